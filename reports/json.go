package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// JSON writes the result as result.json. Characters that do not print are
// escapes, so that looking at the file in a terminal does no harm.
func JSON(w io.Writer, r Result) error {
	fillLists(&r)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("reports: encode the result: %w", err)
	}
	_, err := w.Write(escapeUnprintable(b.Bytes()))
	return err
}

// escapeUnprintable writes every character outside ASCII that does not print
// as \uXXXX, and takes "##[" apart, with which the log of a CI system can be
// commanded. In JSON both can stand in a string only.
func escapeUnprintable(data []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(data))
	for _, r := range strings.ReplaceAll(string(data), "##[", `#\u0023[`) {
		switch {
		case r == 0x7f || r > 0x7f && r <= 0xffff && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		case r > 0xffff && !unicode.IsPrint(r):
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// maxResult bounds what Read takes in, in bytes.
const maxResult = 512 << 20

// Read reads a result.json of this or an older minor version. The error is one
// line that says what is wrong with the file.
func Read(in io.Reader) (Result, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxResult+1))
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("reports: read the result: %w", err)
	case len(data) > maxResult:
		return Result{}, fmt.Errorf("reports: the result is larger than %d MB", maxResult>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return Result{}, errors.New("reports: the file is empty")
	}
	var head struct {
		SchemaVersion any             `json:"schemaVersion"`
		Statements    json.RawMessage `json:"statements"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Result{}, fmt.Errorf("reports: no result of mqttcheck: %s", jsonFault(data, err))
	}
	version, _ := head.SchemaVersion.(string)
	major, _, _ := strings.Cut(version, ".")
	ours, _, _ := strings.Cut(SchemaVersion, ".")
	switch {
	case head.SchemaVersion == nil || head.Statements == nil:
		return Result{}, errors.New("reports: no result of mqttcheck: schemaVersion or statements is missing")
	case major != ours:
		return Result{}, fmt.Errorf("reports: the result has schema version %q, this mqttcheck reads %s.x", Visible(fmt.Sprint(head.SchemaVersion)), ours)
	}
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		return Result{}, fmt.Errorf("reports: damaged result: %s", jsonFault(data, err))
	}
	if err := r.vet(); err != nil {
		return Result{}, err
	}
	fillLists(&r)
	return r, nil
}

// jsonFault says where in the file the fault is.
func jsonFault(data []byte, err error) string {
	var offset int64
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	default:
		return Visible(err.Error())
	}
	line := 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
	return fmt.Sprintf("line %d: %s", line, Visible(strings.TrimPrefix(err.Error(), "json: ")))
}

// vet checks what the renderings rely on.
func (r Result) vet() error {
	for i, s := range r.Statements {
		if version := versionOf(s.ID); version == s.ID || bareID(s.ID) == "" {
			return fmt.Errorf("reports: damaged result: statement %d has no valid id: %q", i, clip(Visible(s.ID), 60))
		}
		if !s.Verdict.known() {
			return fmt.Errorf("reports: damaged result: %s has the unknown verdict %q", clip(Visible(s.ID), 60), clip(Visible(string(s.Verdict)), 60))
		}
		for _, c := range s.Checks {
			if !c.Verdict.known() {
				return fmt.Errorf("reports: damaged result: a check of %s has the unknown verdict %q", clip(Visible(s.ID), 60), clip(Visible(string(c.Verdict)), 60))
			}
		}
	}
	return nil
}
