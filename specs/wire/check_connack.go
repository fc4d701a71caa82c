package wire

func (c *checker) connack(r Received, p Connack) {
	c.judge(ruleConnackCode, r, legalCode(c.version, CONNACK, p.Code), "CONNACK has a code that the version defines for it")
	c.judge(ruleConnackBits, r, p.Flags&0xfe == 0, "bits 7 to 1 of the Connect Acknowledge Flags are 0")
	if p.Code != 0 {
		c.judge(ruleRefusedPresent, r, !p.SessionPresent(), "a CONNACK that refuses has Session Present 0")
	} else if !c.broke && c.connect != nil && c.connect.CleanStart {
		c.judge(ruleCleanPresent, r, !p.SessionPresent(), "with %s Session Present is 0", cleanName(c.version))
	}
	c.properties(r, CONNACK, p.Properties)
	if c.connect == nil || c.version != V5 {
		return
	}
	if c.connect.Properties.Number(RequestResponseInformation, 0) == 0 {
		_, given := p.Properties.First(ResponseInformation)
		c.judge(ruleResponseInfo, r, !given, "CONNACK has no Response Information that was not asked for")
	}
	// Only a success has to name the method [v5/MQTT-4.12.0-5].
	c.method(r, p.Properties, p.Code == 0)
}

func cleanName(v Version) string {
	if v == V5 {
		return "Clean Start 1"
	}
	return "Clean Session 1"
}

func (c *checker) auth(r Received, p Auth) {
	c.judge(ruleAuthCode, r, legalCode(c.version, AUTH, p.Code), "AUTH of a server has code 0x00 or 0x18")
	c.properties(r, AUTH, p.Properties)
	if c.connect == nil {
		return
	}
	if _, named := c.connect.Properties.First(AuthenticationMethod); !named {
		c.judge(ruleNoAuth, r, false, "a server sends no AUTH to a client that named no Authentication Method")
		return
	}
	if c.connacks == 0 && legalCode(c.version, AUTH, p.Code) {
		c.judge(ruleAuthContinue, r, p.Code == 0x18, "AUTH that asks for more data has code 0x18")
	}
	c.method(r, p.Properties, true)
}

// method judges the Authentication Method in CONNACK or AUTH by that of the
// CONNECT [section 4.12 of MQTT 5.0].
func (c *checker) method(r Received, ps Properties, needed bool) {
	asked, named := c.connect.Properties.First(AuthenticationMethod)
	given, has := ps.First(AuthenticationMethod)
	switch {
	case !named:
		c.judge(ruleNoAuth, r, !has, "%s has no Authentication Method, since the client named none", r.Type)
	case needed:
		c.judge(ruleAuthMethod, r, has && given.Str == asked.Str, "%s has the Authentication Method %s of the CONNECT", r.Type, quote(asked.Str))
	}
}
