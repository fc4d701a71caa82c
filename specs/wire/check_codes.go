package wire

import (
	"slices"
	"strings"
)

// serverCodes are the codes that MQTT 5.0 defines for the packets of a server
// [Table 2-6 and the tables of chapter 3]. DISCONNECT 0x04 and AUTH 0x19 are
// for clients. DISCONNECT 0x8C stands in Table 2-6 and not in Table 3-10: it
// is let pass.
var serverCodes = map[Type]string{
	CONNACK:    "\x00\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8c\x90\x95\x97\x99\x9a\x9b\x9c\x9d\x9f",
	PUBACK:     "\x00\x10\x80\x83\x87\x90\x91\x97\x99",
	PUBREC:     "\x00\x10\x80\x83\x87\x90\x91\x97\x99",
	PUBREL:     "\x00\x92",
	PUBCOMP:    "\x00\x92",
	SUBACK:     "\x00\x01\x02\x80\x83\x87\x8f\x91\x97\x9e\xa1\xa2",
	UNSUBACK:   "\x00\x11\x80\x83\x87\x8f\x91",
	DISCONNECT: "\x00\x80\x81\x82\x83\x87\x89\x8b\x8c\x8d\x8e\x8f\x90\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f\xa0\xa1\xa2",
	AUTH:       "\x00\x18",
}

// serverCodes311 are those of MQTT 3.1.1 [sections 3.2.2.3 and 3.9.3].
var serverCodes311 = map[Type]string{
	CONNACK: "\x00\x01\x02\x03\x04\x05",
	SUBACK:  "\x00\x01\x02\x80",
}

// Failure tells whether an answer of a server in MQTT 5.0 says that something
// failed or came to nothing: there a Reason String has something to say.
func Failure(p Packet) bool {
	return slices.ContainsFunc(Codes(p), func(code byte) bool { return code >= 0x80 || code == 0x10 || code == 0x11 })
}

// Codes returns the Reason Codes of a packet.
func Codes(p Packet) []byte {
	switch p := p.(type) {
	case Connack:
		return []byte{p.Code}
	case Ack:
		return []byte{p.Code}
	case Suback:
		return p.Codes
	case Unsuback:
		return p.Codes
	case Disconnect:
		return []byte{p.Code}
	case Auth:
		return []byte{p.Code}
	}
	return nil
}

// legalCode tells whether a server may send the codes in a packet of the type.
func legalCode(v Version, t Type, codes ...byte) bool {
	legal := serverCodes[t]
	if v != V5 {
		legal = serverCodes311[t]
	}
	for _, code := range codes {
		if strings.IndexByte(legal, code) < 0 {
			return false
		}
	}
	return true
}
