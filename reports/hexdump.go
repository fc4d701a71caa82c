package reports

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// maskedByte stands for a byte that was not recorded: part of a credential.
const maskedByte = -1

// parseHex returns the bytes of the hex field of an event, and what stands
// behind them: a note that bytes were cut. A masked byte is "**" or "xx".
func parseHex(field string) (cells []int, note string) {
	for i := 0; i < len(field); {
		if field[i] == ' ' {
			i++
			continue
		}
		if i+2 > len(field) {
			return cells, field[i:]
		}
		pair := field[i : i+2]
		n, err := strconv.ParseUint(pair, 16, 8)
		switch {
		case pair == "**" || pair == "xx":
			cells = append(cells, maskedByte)
		case err == nil:
			cells = append(cells, int(n))
		default:
			return cells, field[i:]
		}
		i += 2
	}
	return cells, ""
}

// hexdump returns the bytes of an event as tshark -x prints them: offset, 16
// bytes in two groups, printable ASCII; at most max bytes, 0 for all.
func (e Event) hexdump(max int) []string {
	cells, note := parseHex(e.Hex)
	note = clip(Visible(note), 80)
	whole := len(cells)
	if max > 0 && whole > max {
		cells = cells[:max]
	}
	if n := len(cells); n < whole || whole > 0 && n < e.Size {
		note = strings.TrimSpace(fmt.Sprintf("… the first %d of %d bytes %s", n, cmp.Or(e.Size, whole), note))
	}
	var lines []string
	for at := 0; at < len(cells); at += 16 {
		row := cells[at:min(at+16, len(cells))]
		lines = append(lines, fmt.Sprintf("%04x  %-49s %s", at, hexRow(row), asciiRow(row)))
	}
	if note != "" {
		lines = append(lines, "      "+note)
	}
	return lines
}

func hexRow(row []int) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i, c := range row {
		if i == 8 {
			b.WriteByte(' ')
		}
		if c == maskedByte {
			b.WriteString("** ")
			continue
		}
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
		b.WriteByte(' ')
	}
	return b.String()
}

func asciiRow(row []int) string {
	text := make([]byte, len(row))
	for i, c := range row {
		switch {
		case c == maskedByte:
			text[i] = '*'
		case c >= 0x20 && c < 0x7f:
			text[i] = byte(c)
		default:
			text[i] = '.'
		}
	}
	return string(text)
}
