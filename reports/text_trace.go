package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of what the text report shows of one trace; the other formats show
// more.
const (
	textHead  = 8  // events from the start
	textTail  = 24 // events up to the end
	textBytes = 96 // bytes of a packet
)

// trace prints the packets of all clients of a check with their bytes, as a
// table that a broker's text cannot break.
func (t *textReport) trace(events []Event) {
	if len(events) == 0 {
		return
	}
	width := 6
	for _, c := range clients(events) {
		width = min(max(width, columns(Visible(c))), 16)
	}
	cut := len(events) - textTail
	for i, e := range events {
		if cut > textHead && i >= textHead && i < cut {
			if i == textHead {
				t.printf("            %s\n", t.paint(dim, fmt.Sprintf("… %d events left out; the HTML and JSON reports have them …", cut-textHead)))
			}
			continue
		}
		t.event(e, width)
	}
	t.printf("\n")
}

func (t *textReport) event(e Event, width int) {
	client := fmt.Sprintf("%-*s", width, Visible(e.Client))
	room := t.width - 24 - width
	body := eventText(e)
	switch e.Dir {
	case "send":
		t.printf("  %8.1f  %s %s broker  %s\n", e.Ms, client, t.paint(blue, "──▶"), clipColumns(body, room))
	case "recv":
		t.printf("  %8.1f  %s %s broker  %s\n", e.Ms, client, t.paint(purple, "◀──"), clipColumns(body, room))
	default:
		t.printf("  %8.1f  %s %s\n", e.Ms, client, t.paint(dim, "┈┈ "+clipColumns(body, room+11)))
	}
	for _, line := range e.hexdump(textBytes) {
		t.printf("  %8s  %s\n", "", t.paint(dim, "    "+clipColumns(line, t.width-16)))
	}
}

// maxText bounds what is shown of the text of one event, in bytes.
const maxText = 1000

// eventText is the packet in one line: its type once, then what was decoded.
func eventText(e Event) string {
	kind, body := Visible(e.Type), Visible(clip(e.Text, maxText))
	switch {
	case kind == "" || strings.HasPrefix(body, kind):
		return body
	case body == "":
		return kind
	}
	return kind + " " + body
}

func clipColumns(s string, n int) string {
	if r := []rune(s); len(r) > n && n > 1 {
		return string(r[:n-1]) + "…"
	}
	return s
}

// clients returns the names of the clients in the order of their first event.
func clients(events []Event) []string {
	var list []string
	for _, e := range events {
		if e.Client != "" && !slices.Contains(list, e.Client) {
			list = append(list, e.Client)
		}
	}
	return list
}
