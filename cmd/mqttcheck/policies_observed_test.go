package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reports"
)

// seen is an observation and the value that it reports.
type seen struct{ key, value string }

// both is an observation that both versions report alike, under keys of their own.
func both(v311, v5, value string) []seen { return []seen{{"v311/" + v311, value}, {"v5/" + v5, value}} }

// observed tells what a run reports of a broker with a policy: of each value but
// the default, which reports none of it.
var observed = map[string][]seen{
	"versions=3.1.1":                  {{"v311/3.1.4-other-versions", "CONNECT with the protocol MQTT of level 5: CONNACK 0x01"}},
	"versions=5":                      {{"v5/3.1.4-other-versions", "CONNECT with the protocol MQTT of level 4: CONNACK 0x01"}},
	"empty-client-id=refuse":          {{"v5/3.1.3.1-empty-client-id", "an empty Client Identifier with Clean Start 1: CONNACK 0x85"}},
	"unknown-level=0x84":              {{"v5/3.2.2.2-connack-code-84", "CONNECT with the protocol level 127: CONNACK 0x84"}},
	"unknown-level=close":             {{"v5/3.2.2.2-connack-code-84", "CONNECT with the protocol level 127: closed without CONNACK"}},
	"malformed-connect=close":         {{"v5/4.13.1-connect-error-connack", "on a CONNECT with the reserved flag: closed without CONNACK; with Will QoS 3: closed without CONNACK; with a will that is missing: closed without CONNACK"}},
	"disconnects=never":               {{"v5/3.14-disconnect-before-close", "on a packet of type 0: closed without DISCONNECT"}, {"v5/3.14.2.1-disconnect-code-8d", "when the Keep Alive has run out: closed without DISCONNECT"}},
	"qos0-offline=keep":               both("3.1.2.4-qos0-offline", "4.1-qos0-offline-optional", "messages at QoS 0 for an absent client are kept"),
	"qos0-while-blocked=hold":         {{"v5/4.9-qos0-while-blocked", "messages at QoS 0 wait while the send quota of the client is used up"}},
	"qos2-onward=pubrel":              {{"v311/4.3.3-onward-moment", "a message at QoS 2 is passed on at PUBREL"}},
	"unknown-acks=close":              {{"v5/3.4-ack-unknown-identifier", "PUBACK for a Packet Identifier that is not in use closes the connection"}, {"v5/4.4-pubrec-for-unknown", "PUBREC for a Packet Identifier that is not in use closes the connection"}},
	"retain-qos0=drop":                both("3.3.1.3-qos0-retained-stored", "3.3.1.3-retained-qos0-stored", "a retained message at QoS 0 is dropped"),
	"overlap=each":                    {{"v311/3.3.5-extra-copies", "a message for three subscriptions of a client comes 3 times"}, {"v5/3.3.4-extra-copies", "a copy for each overlapping subscription, with the identifier of its own"}},
	"no-matching-subscribers=success": {{"v5/3.4.2.1-puback-pubrec-code-10", "a publication that nobody subscribes to: PUBACK 0x00 at QoS 1, PUBREC 0x00 at QoS 2"}},
	"payload-format=checked":          {{"v5/3.3.2.3.2-payload-format-check", "a payload that is not of its format is not delivered at QoS 1: PUBACK 0x99"}, {"v5/3.1.3.2.3-will-payload-format-check", "a will whose payload is not of its format is refused: CONNACK 0x99"}},
	"diagnostics=none":                {{"v5/3.1.2.11.7-request-problem-information-one", "on request there is a Reason String in no answer; a User Property in no answer"}},
	"outgoing-aliases=never":          {{"v5/3.3.2.3.4-server-aliases", "the server uses no Topic Alias when a topic comes again"}},
	"unsubscribe-buffered=drop":       {{"v5/3.10.4-buffered-messages", "messages that waited are dropped by UNSUBSCRIBE"}},
	"share-311=plain":                 {{"v311/4.7.2-share-filter", "a filter $share/g/...: a plain filter for the topic of that name"}},
	"share-311=refused":               {{"v311/4.7.2-share-filter", "a filter $share/g/...: refused (SUBACK 0x80)"}},
	"sys=none":                        both("4.7.2-dollar-other-use", "4.7.2-dollar-other-use", "nothing comes on $SYS/# at once"),
	"dollar-topics=reserved":          both("4.7.2-dollar-exchange", "4.7.2-dollar-exchange", "a client's message on a topic that begins with $ is acknowledged, and not passed on"),
	"dollar-topics=refused":           {{"v5/4.7.2-dollar-exchange", "a client's message on a topic that begins with $ is refused with PUBACK 0x90, and not passed on"}},
	"dollar-topics=open":              both("4.7.2-sys-pose", "4.7.2-sys-pose", "a client's message on a $SYS topic of the server is acknowledged, and reaches its subscribers"),
	"response-information=answers":    {{"v5/3.1.2.11.6-request-response-information-one", "CONNACK has Response Information on request"}},
	"auth-secret=sesame":              {{"v5/4.12-optional", "of the methods SCRAM-SHA-1, SCRAM-SHA-256, GS2-KRB5, mqttcheck-hmac the server knows mqttcheck-hmac"}},
	"window=1":                        both("4.3-window", "3.1.2.11.3-receive-maximum-default", "1 of 100 deliveries are open at once"),
	"window=20":                       both("4.3-window", "3.1.2.11.3-receive-maximum-default", "20 of 100 deliveries are open at once"),
	"granted-qos-311=1":               {{"v311/3.8.4-lower-qos", "for QoS 0, 1 and 2 SUBACK says 0x00, 0x01, 0x01"}},
	"granted-qos-311=0":               {{"v311/3.8.4-lower-qos", "for QoS 0, 1 and 2 SUBACK says 0x00, 0x00, 0x00"}},
	"granted-qos-5=1":                 {{"v5/3.8.4-lower-qos-granted", "for QoS 0, 1 and 2 SUBACK says 0x00, 0x01, 0x01"}},
	"granted-qos-5=0":                 {{"v5/3.8.4-lower-qos-granted", "for QoS 0, 1 and 2 SUBACK says 0x00, 0x00, 0x00"}},
	"welcome=before-suback":           both("3.8.4-publish-before-suback", "3.8.4-publish-before-suback", "retained messages come ahead of SUBACK"),
	"welcome=later":                   nil, // it shows where a message is retained at that moment
	"acknowledges=first":              {{"v5/4.3.2-ownership", "a message at QoS 1 is acknowledged before it is passed on"}},
	"acknowledges=early":              {{"v5/4.3.2-ownership", "a message at QoS 1 is acknowledged before it is passed on"}},
	"announce=all":                    {{"v5/3.2.2.3.3-receive-maximum", "Receive Maximum in CONNACK is 65535"}, {"v5/3.2.2.3.5-retain-available", "Retain Available in CONNACK is 1"}},
	"maximum-qos=1":                   {{"v5/3.2.2.3.4-maximum-qos", "Maximum QoS in CONNACK is 1"}},
	"maximum-qos=0":                   {{"v5/3.2.2.3.4-maximum-qos", "Maximum QoS in CONNACK is 0"}},
	"receive-maximum=2":               {{"v5/3.2.2.3.3-receive-maximum", "Receive Maximum in CONNACK is 2"}},
	"receive-maximum=20":              {{"v5/3.2.2.3.3-receive-maximum", "Receive Maximum in CONNACK is 20"}},
	"topic-alias-maximum=0":           {{"v5/3.2.2.3.8-topic-alias-maximum", "Topic Alias Maximum is not in CONNACK: 0"}},
	"topic-alias-maximum=1":           {{"v5/3.2.2.3.8-topic-alias-maximum", "Topic Alias Maximum in CONNACK is 1"}},
	"maximum-packet-size=512":         {{"v5/3.2.2.3.6-maximum-packet-size", "Maximum Packet Size in CONNACK is 512"}},
	"maximum-session-expiry=60":       {{"v5/3.2.2.3.2-session-expiry", "Session Expiry Interval in CONNACK is 60"}},
	"server-keep-alive=60":            {{"v5/3.2.2.3.14-server-keep-alive", "Server Keep Alive in CONNACK is 60"}},
	"retain=no":                       {{"v5/3.2.2.3.5-retain-available", "Retain Available in CONNACK is 0"}},
	"wildcards=no":                    {{"v5/3.2.2.3.11-wildcards-available", "Wildcard Subscription Available in CONNACK is 0"}},
	"shared=no":                       {{"v5/3.2.2.3.13-shared-available", "Shared Subscription Available in CONNACK is 0"}},
	"subscription-identifiers=no":     {{"v5/3.2.2.3.12-subscription-ids-available", "Subscription Identifiers Available in CONNACK is 0"}},
	"resent-identifiers=current":      {{"v5/3.8.4-subscription-id-no-revert", "a message that is sent again has the new identifier of its subscription"}},
	"downgraded-duplicates=yes":       both("3.8.4-duplicates-when-downgraded", "3.8.4-duplicates-when-downgraded", "a message at QoS 1 comes twice to a subscription at QoS 0"),
	"no-local-retained=sent":          {{"v5/3.8.3.1-no-local-retained", "the client's own retained message is sent by a SUBSCRIBE with No Local"}},
	"no-local-overlap=any":            {{"v5/3.8.3.1-no-local-overlap", "the client's own message comes not at all where one of two matching subscriptions has No Local"}},
	"identifier-in-use=refused":       {{"v5/3.9.3-suback-code-91", "SUBSCRIBE under the Packet Identifier of an open publication: SUBACK 0x91"}, {"v5/3.11.3-unsuback-code-91", "UNSUBSCRIBE under the Packet Identifier of an open publication: UNSUBACK 0x91"}},
	"suback-refusal=0x80":             {{"v5/3.9.3-suback-code-8f", "a filter with # out of place: SUBACK 0x80"}},
	"suback-refusal=0x83":             {{"v5/3.9.3-suback-code-8f", "a filter with # out of place: SUBACK 0x83"}},
	"unsubscribe-invalid=refused":     {{"v5/3.11.3-unsuback-code-8f", "UNSUBSCRIBE for a filter with # out of place: UNSUBACK 0x8f"}},
	"share-dispatch=random":           ofGroups("dispatch", "the members get about as many messages each, in no plain order"),
	"share-dispatch=sticky":           ofGroups("dispatch", "one member gets all messages"),
	"share-dispatch=publisher":        ofGroups("dispatch", "all messages of a publisher go to one member"),
	"share-away=counted":              append(ofGroups("away-member", "some messages wait for a member that is away"), ofGroups("qos0-away", "some messages at QoS 0 do not go to the member that is connected")...),
	"share-busy=others":               {{"v5/4.8.2-busy-member", "shared subscriptions: what a busy member does not take goes to another"}},
	"share-redelivery=at-once":        ofGroups("qos1-redelivery", "an open message at QoS 1 comes again to the other member"),
	"share-redelivery=never":          ofGroups("qos2-waiting", "a QoS 2 message that had not begun is lost with the Session"),
	"share-order=latest-first":        ofGroups("order", "a member does not get its messages in the order of publication"),
	"share-joining=waiting":           ofGroups("mostly-away", "what came while no member was connected goes to a member that joins"),
	"share-qos0-sent=repeated":        ofGroups("qos0-sent", "a message at QoS 0 that was sent to a member comes to another as well"),
	"share-too-large=nobody":          {{"v5/3.1.2.11.4-shared-too-large", "a message that is too large for the member whose turn it is goes to nobody"}},
	"share-311-retained=creator":      {{"v311/4.7.2-share-retained", "shared subscriptions: only the member that creates the group gets retained messages"}},
	"share-311-retained=each":         {{"v311/4.7.2-share-retained", "shared subscriptions: each member gets retained messages when it joins"}},
	"share-forms=refused":             {{"v311/4.7.2-form-queue", "a filter $queue/...: refused (SUBACK 0x80)"}, {"v5/4.7.2-form-queue", "a filter $queue/...: refused (SUBACK 0x8f)"}},
	"share-forms=grouped":             both("4.7.2-form-queue", "4.7.2-form-queue", "a filter $queue/...: a shared subscription to what stands behind"),
	"diagnostics=always":              nil, // the same where a client asks for it
}

// ofGroups is what both versions report of shared subscriptions.
func ofGroups(name, value string) []seen {
	return both("4.7.2-share-"+name, "4.8.2-"+name, "shared subscriptions: "+value)
}

// unobserved are the policies that no observation belongs to, and why.
var unobserved = map[string]string{
	"denied-publish":   "it takes a user that may not publish to a topic, which an address alone does not give",
	"denied-subscribe": "it takes a user that may not subscribe to a topic, which an address alone does not give",
	"server-reference": "a broker that sends its clients away is no broker to judge, and when it goes down is seen by who can restart it: the variant redirects shows it",
	"subprotocol":      "it takes an address over WebSocket",
	"packet-ids":       "which Packet Identifier is taken means nothing to anybody",
	"keep-alive-slack": "how long a server waits beyond what it has to is not worth the time to find out",
	"delay":            "how fast a server is is no freedom of the protocol",
	"overtaking":       "it shows at times only, and a check that took it for granted would be wrong",
	"segments":         "how the bytes come is that of the network",
}

// TestPoliciesAreAllObserved holds the table against the policies.
func TestPoliciesAreAllObserved(t *testing.T) {
	known := map[string]bool{}
	for _, info := range core.Policies() {
		for _, value := range info.Values[1:] {
			setting := info.Name + "=" + value
			known[setting] = true
			if _, ok := observed[setting]; !ok && unobserved[info.Name] == "" {
				t.Errorf("nothing is said of what is observed under %s", setting)
			}
		}
	}
	for setting := range observed {
		if !known[setting] {
			t.Errorf("there is no policy %s", setting)
		}
	}
}

// unreported lists what a run had to observe under a policy, and did not.
func unreported(result reports.Result, setting string) []string {
	var problems []string
	for _, want := range observed[setting] {
		var values []string
		for _, o := range result.Observations {
			if o.Key == want.key {
				values = append(values, o.Value)
			}
		}
		if !slices.Contains(values, want.value) {
			problems = append(problems, fmt.Sprintf("%s: observed %q, want %q", want.key, values, want.value))
		}
	}
	return problems
}

// misreported lists what a run observes on a broker without policies and belongs
// to one.
func misreported(result reports.Result) []string {
	var problems []string
	for _, setting := range sortedKeys(observed) {
		for _, o := range result.Observations {
			if slices.Contains(observed[setting], seen{o.Key, o.Value}) {
				problems = append(problems, fmt.Sprintf("%s: observed %q, which is that of %s", o.Key, o.Value, setting))
			}
		}
	}
	return problems
}
