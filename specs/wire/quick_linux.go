package wire

import (
	"net"
	"syscall"
)

// quick asks for immediate acknowledgements before each read: many brokers
// leave Nagle's algorithm on, and a round trip then takes 44 ms instead of 0.4.
type quick struct{ net.Conn }

func (q quick) Read(b []byte) (int, error) {
	if tcp, ok := underlying(q.Conn).(*net.TCPConn); ok {
		if raw, err := tcp.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) {
				_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
			})
		}
	}
	return q.Conn.Read(b)
}
