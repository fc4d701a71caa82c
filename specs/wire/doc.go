// Package wire is the tester's own view of MQTT 3.1.1 and 5.0 on the network.
//
// It encodes anything, also nonsense (Packet, Raw, Frame and the functions
// that break a packet); it decodes what a broker sends without judging it
// (Parse); Conn records every packet of a connection, and Trace those of a
// whole spec. Beside the record runs a checker: it holds each packet against
// the rules that bind its sender whatever the packet answers, and names the
// statement that one breaks (Violation). It judges what a packet answers only
// as long as the tester itself has kept to the rules.
//
// A broker is not trusted: no length is believed before its bytes are there,
// and what is kept of a connection is bounded.
//
// The codec shares no code with that of the reference broker, so that the
// mistake of one shows at the other.
package wire
