//go:build !linux

package wire

import "net"

// quick reads as it is: only Linux has a switch for immediate acknowledgements.
type quick struct{ net.Conn }
