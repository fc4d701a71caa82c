package core

import (
	"fmt"
	"slices"
)

// Defect is a deliberate fault. It proves that the checks of the statements
// it breaks can fail.
//
// To add one:
//  1. Find the decision in rules that it replaces. Where there is none, give
//     the server a new one: a field in the group it belongs to, with the answer
//     that the specification demands in the standard... function of the group.
//  2. Append a Defect to the list of the section it belongs to. Its apply
//     replaces that one decision; what it has to remember lives in variables of
//     apply, which runs once for each server. A rule of format is switched off
//     by tolerate, bytes of the server are changed by rawly.
//  3. Breaks names exactly the statements whose checks fail under it, in each
//     version, the one it breaks most directly first: the proof holds every
//     other statement against it. What it merely stands in the way of (a check
//     becomes inconclusive) is not named.
type Defect struct {
	// Name is lower case with hyphens.
	Name string
	// Breaks lists the keys of the statements broken.
	Breaks []string
	// About says in one sentence what the server does wrong.
	About string
	// Shows tells how it shows: Run, Warn, Hook or Fuzz.
	Shows string

	apply func(*rules)
}

// The ways in which a defect shows.
const (
	Run  = "run"  // a plain run of the suite fails
	Warn = "warn" // a plain run has a warning more
	Hook = "hook" // a run with variants, hooks or a target file fails
	Fuzz = "fuzz" // the fuzzer finds it
)

// defects are the lists of all sections.
var defects = slices.Concat(
	packetDefects,
	connectDefects,
	sessionDefects,
	willDefects,
	publishDefects,
	retainDefects,
	subscribeDefects,
	optionDefects,
	identifierDefects,
	outcomeDefects,
	sharedDefects,
	sharedDeliveryDefects,
	unsubscribeDefects,
	qosDefects,
	flowDefects,
	announcedDefects,
	topicDefects,
	dollarDefects,
	standingDefects,
	expiryDefects,
	malformedDefects,
	errorDefects,
	answerDefects,
	willDelayDefects,
	connectPropertyDefects,
	connackDefects,
	disconnectDefects,
	stateDefects,
	authDefects,
	propertyDefects,
	limitDefects,
	webSocketDefects,
	sizeDefects,
	unnumberedDefects,
	sentDefects,
	fieldExchangeDefects,
	fieldWillDefects,
	fieldMessageDefects,
	fieldPacketDefects,
	fieldTwiceDefects,
	fieldFormDefects,
	copyDefects,
	fuzzDefects,
)

// Defects lists the defects.
func Defects() []Defect { return slices.Clone(defects) }

// LookupDefect returns the defect with a name.
func LookupDefect(name string) (Defect, error) {
	i := slices.IndexFunc(defects, func(d Defect) bool { return d.Name == name })
	if i < 0 {
		return Defect{}, fmt.Errorf("core: there is no defect %q; see --list-defects", name)
	}
	return defects[i], nil
}
