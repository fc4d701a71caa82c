package script

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// The text form has one line for each step:
//
//	A open 5                           # a connection, in MQTT 5.0 (or 3.1.1)
//	A > 10 0f 0004 "MQTT" 05 02 003c   # bytes: hex, text in quotes, 61*300 for 300 times 61
//	A >2 c0 00                         # the same, two bytes at a time
//	A fence                            # until the broker has dealt with it
//	A hold                             # no acknowledgements from here on
//	A fin
//	A rst
//	pause 20ms
//
// What follows a # is for the reader.

// The bounds of a file that is read.
const (
	maxLine  = 1 << 20
	maxSteps = 100_000
	maxBytes = 16 << 20 // of all that a script sends
	maxPause = 10 * time.Second
)

var words = map[Op]string{Fence: "fence", Finish: "fin", Reset: "rst", Hold: "hold"}

// Name returns the letter of a client.
func Name(client int) string { return string(rune('A' + client)) }

// Append writes the steps as lines, with what each packet is beside it.
func (s Script) Append(b []byte) []byte {
	versions := map[int]wire.Version{}
	for _, st := range s {
		switch st.Op {
		case Pause:
			b = fmt.Appendf(b, "pause %s\n", st.Pause)
		case Open:
			versions[st.Client] = st.Version
			b = fmt.Appendf(b, "%s open %s\n", Name(st.Client), versionName(st.Version))
		case Send:
			b = fmt.Appendf(b, "%s >", Name(st.Client))
			if st.Split > 0 {
				b = strconv.AppendInt(b, int64(st.Split), 10)
			}
			b = appendBytes(b, st.Bytes)
			if what := Describe(st.Bytes, versions[st.Client]); what != "" {
				b = fmt.Appendf(b, "  # %s", what)
			}
			b = append(b, '\n')
		default:
			b = fmt.Appendf(b, "%s %s\n", Name(st.Client), words[st.Op])
		}
	}
	return b
}

// String is Append as text.
func (s Script) String() string { return string(s.Append(nil)) }

func versionName(v wire.Version) string {
	if v == wire.V5 {
		return "5"
	}
	return "3.1.1"
}

// Describe names the packets in the bytes, on one line.
func Describe(b []byte, v wire.Version) string {
	var names []string
	for len(b) > 0 && len(names) < 4 {
		size, ok := wire.FrameSize(b)
		if !ok || size > len(b) || size == 0 {
			names = append(names, "no whole packet")
			break
		}
		_, used, _ := wire.Varint(b[1:size])
		p, err := wire.Parse(b[0], b[1+used:size], v)
		text := fmt.Sprint(p)
		if err != nil {
			text += " (" + err.Error() + ")"
		}
		names = append(names, text)
		b = b[size:]
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r > 0x7e {
			return '.'
		}
		return r
	}, strings.Join(names, ", "))
	if len(text) > 120 {
		text = text[:117] + "..."
	}
	return text
}

// appendBytes writes bytes as hex, with runs of equal bytes and longer texts in
// short forms.
func appendBytes(b, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if n := run(raw[i:]); n >= 8 {
			b = fmt.Appendf(b, " %02x*%d", raw[i], n)
			i += n
			continue
		}
		if n := plain(raw[i:]); n >= 4 {
			b = fmt.Appendf(b, " %q", raw[i:i+n])
			i += n
			continue
		}
		b = fmt.Appendf(b, " %02x", raw[i])
		i++
	}
	return b
}

func run(b []byte) int {
	n := 1
	for n < len(b) && b[n] == b[0] {
		n++
	}
	return n
}

// plain counts the letters and signs that stand in quotes as they are.
func plain(b []byte) int {
	n := 0
	for n < len(b) && n < 60 && b[n] > ' ' && b[n] < 0x7f && b[n] != '"' && b[n] != '\\' && run(b[n:]) < 8 {
		n++
	}
	return n
}

// Parse reads the text form. An error names the line.
func Parse(r io.Reader) (Script, error) {
	var s Script
	size := 0
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		st, ok, err := parseLine(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if !ok {
			continue
		}
		s = append(s, st)
		if size += len(st.Bytes); len(s) > maxSteps || size > maxBytes {
			return nil, fmt.Errorf("line %d: more than %d steps or %d bytes", n, maxSteps, maxBytes)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the text cannot be read: %w", err)
	}
	return s, nil
}

func parseLine(line string) (st Step, ok bool, err error) {
	fields, err := split(line)
	if err != nil || len(fields) == 0 {
		return st, false, err
	}
	if fields[0] == "pause" {
		if len(fields) != 2 {
			return st, false, errors.New("write pause and a time, such as pause 20ms")
		}
		st.Op = Pause
		st.Pause, err = time.ParseDuration(fields[1])
		if err == nil && (st.Pause < 0 || st.Pause > maxPause) {
			err = fmt.Errorf("a pause lasts from 0 to %s", maxPause)
		}
		return st, err == nil, err
	}
	if len(fields[0]) != 1 || fields[0][0] < 'A' || fields[0][0] >= 'A'+MaxClients {
		return st, false, fmt.Errorf("%q is no client: they are called A to %s", fields[0], Name(MaxClients-1))
	}
	st.Client = int(fields[0][0] - 'A')
	if len(fields) == 1 {
		return st, false, fmt.Errorf("client %s does nothing: write open, >, fence, fin, rst or hold", fields[0])
	}
	err = st.parseOp(fields[1], fields[2:])
	return st, err == nil, err
}

func (st *Step) parseOp(op string, rest []string) error {
	if strings.HasPrefix(op, ">") {
		return st.parseSend(op[1:], rest)
	}
	if op == "open" {
		if len(rest) != 1 || rest[0] != "5" && rest[0] != "3.1.1" {
			return errors.New("write open 5 or open 3.1.1")
		}
		st.Op, st.Version = Open, wire.V311
		if rest[0] == "5" {
			st.Version = wire.V5
		}
		return nil
	}
	for code, word := range words {
		if word == op && len(rest) == 0 {
			st.Op = code
			return nil
		}
	}
	return fmt.Errorf("%q is no step: write open, >, fence, fin, rst or hold", op)
}

func (st *Step) parseSend(count string, rest []string) error {
	st.Op = Send
	if count != "" {
		n, err := strconv.ParseUint(count, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf(">%s: write > and how many bytes are written at a time", count)
		}
		st.Split = int(n)
	}
	for _, word := range rest {
		b, err := parseBytes(word)
		if err != nil {
			return err
		}
		if st.Bytes = append(st.Bytes, b...); len(st.Bytes) > maxBytes {
			return fmt.Errorf("more than %d bytes", maxBytes)
		}
	}
	return nil
}

// parseBytes reads one word: hex, "text", or hex*count.
func parseBytes(word string) ([]byte, error) {
	if strings.HasPrefix(word, `"`) {
		text, err := strconv.Unquote(word)
		if err != nil {
			return nil, fmt.Errorf("%s is no text in quotes", word)
		}
		return []byte(text), nil
	}
	digits, times, repeated := strings.Cut(word, "*")
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) == 0 {
		return nil, fmt.Errorf("%q is no hex: write pairs of hex digits, \"text\" or 61*300", word)
	}
	if repeated {
		n, err := strconv.ParseUint(times, 10, 32)
		if err != nil || n*uint64(len(b)) > maxBytes {
			return nil, fmt.Errorf("%q: write how many times, at most %d bytes", word, maxBytes)
		}
		b = bytes.Repeat(b, int(n))
	}
	return b, nil
}

// split parts a line into words, without the comment. A text in quotes is one
// word.
func split(line string) ([]string, error) {
	var list []string
	for {
		line = strings.TrimLeft(line, " \t\r")
		if line == "" || line[0] == '#' {
			return list, nil
		}
		if line[0] == '"' {
			word, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, errors.New("a text in quotes does not end")
			}
			list, line = append(list, word), line[len(word):]
			continue
		}
		end := strings.IndexAny(line, " \t\r#\"")
		if end < 0 {
			end = len(line)
		}
		list, line = append(list, line[:end]), line[end:]
	}
}
