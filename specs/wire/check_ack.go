package wire

func (c *checker) ack(r Received, p Ack) {
	// The short form has no code that could be a wrong one.
	if n, _, _ := Varint(r.Raw[1:]); n > 2 {
		c.judge(ruleAckCode[p.Type], r, legalCode(c.version, p.Type, p.Code), "%s of a server has a code defined for it", p.Type)
	}
	c.properties(r, p.Type, p.Properties)
	if p.Type == PUBREL {
		c.released[p.ID] = true
	}
	// A resumed session brings identifiers along that this connection has not
	// seen, and a late acknowledgement may belong to the connection before.
	if c.broke || c.connect == nil || !c.connect.CleanStart {
		return
	}
	switch p.Type {
	case PUBACK, PUBREC:
		c.judge(rulePublishID, r, c.published[p.ID], "%s has the Packet Identifier of a PUBLISH that was sent", p.Type)
	case PUBREL:
		c.judge(rulePublishID, r, c.delivered[p.ID], "PUBREL has the Packet Identifier of a delivery at QoS 2")
	case PUBCOMP:
		c.judge(rulePubcompID, r, c.let[p.ID], "PUBCOMP has the Packet Identifier of a PUBREL that was sent")
	}
}

func (c *checker) suback(r Received, p Suback) {
	c.judge(ruleSubackCodes, r, legalCode(c.version, SUBACK, p.Codes...), "SUBACK has only codes defined for it")
	c.properties(r, SUBACK, p.Properties)
	if filters, ok := c.answered(r, SUBSCRIBE, p.ID); ok {
		c.judge(ruleSubackCount, r, len(p.Codes) == filters, "SUBACK has a code for each of the %d filters", filters)
	}
}

func (c *checker) unsuback(r Received, p Unsuback) {
	c.judge(ruleUnsubackCodes, r, legalCode(c.version, UNSUBACK, p.Codes...), "UNSUBACK has only codes defined for it")
	c.properties(r, UNSUBACK, p.Properties)
	if filters, ok := c.answered(r, UNSUBSCRIBE, p.ID); ok && c.version == V5 {
		c.judge(ruleUnsubackCodes, r, len(p.Codes) == filters, "UNSUBACK has a code for each of the %d filters", filters)
	}
}

// answered judges whether an answer has the identifier of an open request, and
// returns how many filters that had.
func (c *checker) answered(r Received, request Type, id uint16) (filters int, ok bool) {
	if c.broke {
		return 0, false
	}
	filters, ok = c.settle(request, id)
	c.judge(ruleRequestID, r, ok, "%s has the Packet Identifier of a %s that is not answered yet", r.Type, request)
	return filters, ok
}

func (c *checker) bye(r Received, p Disconnect) {
	_, expiry := p.Properties.First(SessionExpiryInterval)
	c.judge(ruleByeExpiry, r, !expiry, "DISCONNECT of a server has no Session Expiry Interval")
}
