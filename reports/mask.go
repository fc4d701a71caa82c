package reports

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const masked = "***"

// MaskURL returns the URL without the user name and password in it, and without
// its query, in which some brokers take a token.
func MaskURL(raw string) string {
	return maskQuery(maskUser(raw))
}

func maskQuery(raw string) string {
	if before, query, ok := strings.Cut(raw, "?"); ok && query != "" && strings.Contains(before, "://") {
		return before + "?" + masked
	}
	return raw
}

func maskUser(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	// The last @ before the path: a password may hold one unescaped.
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		// A password with a slash in it is no valid URL, but still a secret.
		if at = strings.LastIndexByte(rest, '@'); at < 0 {
			return raw
		}
		if u, err := url.Parse(raw); err == nil && u.User == nil && u.Port() != "" {
			return raw // an @ in the path
		}
	}
	return scheme + "://" + masked + "@" + rest[at+1:]
}

// secretFlags are those whose value is a credential.
var secretFlags = []string{"-u", "-P", "--username", "--password"}

// MaskCommand returns a command line without credentials.
func MaskCommand(args []string) []string {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, _, assigned := strings.Cut(arg, "=")
		switch {
		case slices.Contains(secretFlags, arg):
			out = append(out, arg)
			if i++; i < len(args) {
				out = append(out, masked)
			}
		case assigned && slices.Contains(secretFlags, name):
			out = append(out, name+"="+masked)
		case len(arg) > 2 && (strings.HasPrefix(arg, "-u") || strings.HasPrefix(arg, "-P")):
			out = append(out, arg[:2]+masked)
		default:
			out = append(out, MaskURL(arg))
		}
	}
	return out
}

// valueFlags are the flags of run that take a value; those of outputs and
// selectors are left out of the command that runs one statement again.
var valueFlags = map[string]struct{ keep bool }{
	"--json": {}, "--junit": {}, "--html": {}, "--markdown": {}, "--skip": {}, "-V": {}, "--seed": {}, "--procs": {},
	"--defect": {true}, "--timeout": {true}, "--settle": {true}, "--baseline": {true}, "--target": {true},
	"-h": {true}, "--host": {true}, "-p": {true}, "--port": {true}, "-u": {true}, "-P": {true},
	"--cafile": {true}, "--cert": {true}, "--key": {true}, "--server-name": {true}, "--also": {true}, "--config": {true},
}

// keptSwitches are the flags without a value that change what is checked.
var keptSwitches = []string{"--strict", "--slow", "--shuffle", "--insecure"}

// Again returns the command that checks only the given statement, as this run
// did it.
func (r Result) Again(key string) string {
	words := []string{"mqttcheck", "run"}
	if r.Target.URL != "" && !r.Target.Embedded {
		words = append(words, r.Target.URL)
	}
	words = append(words, key)
	args := r.Run.Command
	for i := 0; i < len(args); i++ {
		name, _, assigned := strings.Cut(args[i], "=")
		flag, takesValue := valueFlags[name]
		switch {
		case slices.Contains(keptSwitches, args[i]):
			words = append(words, args[i])
		case takesValue && assigned:
			if flag.keep {
				words = append(words, args[i])
			}
		case takesValue && i+1 < len(args):
			if i++; flag.keep {
				words = append(words, name, args[i])
			}
		}
	}
	if r.Run.Seed != 0 {
		words = append(words, "--seed", strconv.FormatInt(r.Run.Seed, 10))
	}
	return shellJoin(words)
}

// shellJoin quotes words for a POSIX shell.
func shellJoin(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		w = Visible(w)
		safe := w != "" && !strings.ContainsFunc(w, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r))
		})
		if !safe {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}
