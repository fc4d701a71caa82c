package campaign

import (
	"fmt"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/play"
)

// shortest password that is looked for: a shorter one may stand anywhere.
const shortest = 4

// hide takes the passwords out of what a broker said, in words or bytes: one may
// repeat what it was told.
func (c *campaign) hide(text string) string {
	for _, l := range []*play.Login{c.o.Login, c.o.AsOther} {
		if l != nil && len(l.Password) >= shortest {
			text = strings.ReplaceAll(text, l.Password, "***")
			text = strings.ReplaceAll(text, fmt.Sprintf("% x", l.Password), "**")
		}
	}
	return text
}

// broker is how findings name the broker.
func (c *campaign) broker() string {
	if c.o.Broker != "" {
		return c.o.Broker
	}
	return c.o.Address.URL
}
