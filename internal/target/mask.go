package target

import (
	"strconv"
	"strings"
)

// mask stands in the place of a secret.
const mask = "***"

// Mask returns a URL, however ill-formed, with its user name and password
// masked, and its query, in which some brokers take a token.
func Mask(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return masked(text)
	}
	return scheme + "://" + masked(rest)
}

// masked is Mask for what follows the scheme. The last @ counts, wherever it
// stands: a password may hold an @ or a slash by mistake, and it is better to
// hide the beginning of a path than to show the end of a password.
func masked(rest string) string {
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = mask + "@" + rest[at+1:]
	}
	if path, _, ok := strings.Cut(rest, "?"); ok {
		rest = path + "?" + mask
	}
	return rest
}

// shown is Mask for a message of one line.
func shown(text string) string { return printable(Mask(text)) }

// printable returns text as it is, or quoted if a character of it could move a
// cursor, hide or end the line.
func printable(text string) string {
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}
