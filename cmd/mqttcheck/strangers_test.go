package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// strangers starts what may stand at an address and is no broker, each until
// the end of the test, and returns their URLs by the name of the variable that
// scripts know them by.
func strangers(t testing.TB) map[string]string {
	t.Helper()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	return map[string]string{
		"HTTP":      "mqtt://" + strings.TrimPrefix(web.URL, "http://"),
		"ECHO":      listen(t, func(c net.Conn) { _, _ = io.Copy(c, c) }),
		"SILENCE":   listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }),
		"NOISE":     listen(t, noise),
		"CLOSE":     listen(t, func(net.Conn) {}),
		"REFUSE311": listen(t, answering("\x20\x02\x00\x05")),
		"ONLY311":   listen(t, answering("\x20\x02\x00\x01")),
		"BUSY":      listen(t, answering("\x20\x02\x00\x03")),
		"NOBODY":    nobody(t),
	}
}

// nobody returns a URL where nobody listens until the end of the test: it is
// the client's end of a connection, which holds the port; a closed listener would
// leave it to the next one that asks for any.
func nobody(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return "mqtt://" + c.LocalAddr().String()
}

// listen serves each connection with the function, until the end of the test;
// the connection is closed when the function returns.
func listen(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return "mqtt://" + l.Addr().String()
}

// answering reads something, sends the answer and waits for the end.
func answering(answer string) func(net.Conn) {
	return func(c net.Conn) {
		buf := make([]byte, 512)
		if _, err := c.Read(buf); err == nil {
			_, _ = io.WriteString(c, answer)
			_, _ = io.Copy(io.Discard, c)
		}
	}
}
