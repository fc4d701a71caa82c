// Package finding is the file of a finding: a header that says what was wrong,
// and the script that shows it, to be read, edited and played again.
package finding

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
)

// Extension is that of the files.
const Extension = ".mqr"

// File is the content of one.
type File struct {
	Oracle string // which oracle found it
	Key    string // what it is known by
	About  string // what was seen, on one line
	Broker string // on which broker
	Seed   string // of the campaign, and the number of the conversation
	Prefix string // with which the topics of the script begin
	// Minimised tells how far the script has been made small.
	Minimised Minimised
	// Plays is how often a part of the script was played to make it small. It is
	// not saved.
	Plays  int
	Script script.Script
	// Observed is what was seen when it was played, for the reader only.
	Observed string
}

// Minimised tells how far a script has been made small.
type Minimised string

// How far: as far as possible, until time or plays ran out, or not at all, where
// the script is everything that was sent.
const (
	Fully  Minimised = ""
	Partly Minimised = "partly"
	Not    Minimised = "no"
)

// String says it in a word.
func (m Minimised) String() string {
	switch m {
	case Fully:
		return "minimised"
	case Partly:
		return "minimised in part"
	}
	return "not minimised"
}

// order is 0 for the best.
func (m Minimised) order() int {
	switch m {
	case Fully:
		return 0
	case Partly:
		return 1
	}
	return 2
}

// better tells whether a file is worth keeping rather than another.
func (f File) better(than File) bool {
	if f.Minimised != than.Minimised {
		return f.Minimised.order() < than.Minimised.order()
	}
	return f.Script.Size() < than.Script.Size()
}

// header is a line of the header that holds a text.
type header struct {
	name  string
	value *string
}

func (f *File) headers() []header {
	return []header{{"oracle", &f.Oracle}, {"key", &f.Key}, {"about", &f.About}, {"broker", &f.Broker}, {"seed", &f.Seed}, {"prefix", &f.Prefix}}
}

// title is the first line of a file; the number is the version of the format.
const title = "mqttcheck-replay 1"

const (
	scriptMark   = "-- script --"
	observedMark = "-- observed --"
	maxHeader    = 64 << 10
	maxFile      = 32 << 20
)

// Format writes the file.
func (f File) Format() []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, title)
	for _, h := range f.headers() {
		if *h.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", h.name, oneLine(*h.value))
		}
	}
	if f.Minimised != Fully {
		fmt.Fprintln(&b, "minimised:", oneLine(string(f.Minimised)))
	}
	fmt.Fprintln(&b, scriptMark)
	b.Write(f.Script.Append(nil))
	if f.Observed != "" {
		fmt.Fprintf(&b, "%s\n%s\n", observedMark, strings.TrimRight(f.Observed, "\n"))
	}
	return b.Bytes()
}

// oneLine makes text of a broker harmless: one line of printable characters.
func oneLine(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfffd {
			return '?'
		}
		return r
	}, s)
	if len(clean) > 2000 {
		clean = strings.ToValidUTF8(clean[:2000], "") + "..."
	}
	return strings.TrimSpace(clean)
}

// Read parses a file. An error says what is wrong with it.
func Read(r io.Reader) (File, error) {
	var f File
	in := bufio.NewReader(io.LimitReader(r, maxFile+1))
	first, err := in.ReadString('\n')
	if strings.TrimSpace(first) != title {
		return f, fmt.Errorf("this is no finding of mqttcheck: the first line has to be %q", title)
	}
	if err != nil {
		return f, fmt.Errorf("the line %q is missing", scriptMark)
	}
	for n := 0; ; {
		line, err := in.ReadString('\n')
		if n += len(line); n > maxHeader {
			return f, fmt.Errorf("the header is longer than %d bytes", maxHeader)
		}
		line = strings.TrimSpace(line)
		if line == scriptMark {
			break
		}
		if err != nil {
			return f, fmt.Errorf("the line %q is missing", scriptMark)
		}
		if err := f.readHeader(line); err != nil {
			return f, err
		}
	}
	rest, err := io.ReadAll(in)
	if err != nil {
		return f, fmt.Errorf("the file cannot be read: %w", err)
	}
	if len(rest) > maxFile {
		return f, fmt.Errorf("the file is longer than %d bytes", maxFile)
	}
	text, observed, _ := strings.Cut("\n"+string(rest), "\n"+observedMark)
	f.Observed = strings.Trim(observed, "\r\n")
	f.Script, err = script.Parse(strings.NewReader(strings.TrimPrefix(text, "\n")))
	if err != nil {
		return f, fmt.Errorf("the script: %w", err)
	}
	if len(f.Script) == 0 {
		return f, errors.New("the script is empty")
	}
	return f, nil
}

func (f *File) readHeader(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return fmt.Errorf("%q is no header: write NAME: VALUE, or %s", line, scriptMark)
	}
	value = strings.TrimSpace(value)
	if name == "minimised" && value != "yes" {
		f.Minimised = Minimised(value)
	}
	for _, h := range f.headers() {
		if h.name == name {
			*h.value = value
		}
	}
	return nil // what later versions add is left alone
}

var unfit = regexp.MustCompile(`[^a-z0-9.-]+`)

// Name is the file's name: findings that are one have the same.
func (f File) Name() string {
	name := strings.Trim(unfit.ReplaceAllString(strings.ToLower(f.Oracle+"-"+f.Key), "-"), "-.")
	return name[:min(len(name), 100)] + Extension
}

// Save writes the file into a folder, beside what is there already: a finding
// that is known is replaced by a smaller one only. It returns the path.
func (f File) Save(dir string) (string, error) {
	path := filepath.Join(dir, f.Name())
	if old, err := Load(path); err == nil && !f.better(old) {
		return path, nil
	}
	temporary, err := os.CreateTemp(dir, "."+f.Name()+"-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(f.Format())
	if err = errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(temporary.Name(), path)
}

// Load reads a file by its path.
func Load(path string) (File, error) {
	r, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer r.Close()
	return Read(r)
}
