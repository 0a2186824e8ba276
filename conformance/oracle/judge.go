package oracle

import "fmt"

// A judge goes through the messages of one request.
type judge struct {
	files Contents
	dir   string
	calls map[string]*called
	known map[string]*memory
	texts map[string]*text // by content, so that one version is one text
	out   []Verdict
}

// called is a call and where it stands.
type called struct {
	*Call
	at    int
	again []*Call // other calls with the same id
}

func newJudge(r Request, files Contents) *judge {
	j := &judge{files: files, dir: r.Dir, calls: map[string]*called{}, known: map[string]*memory{}, texts: map[string]*text{}}
	for at, s := range r.Steps {
		if s.Call == nil {
			continue
		}
		if first := j.calls[s.Call.ID]; first != nil {
			first.again = append(first.again, s.Call)
			continue
		}
		j.calls[s.Call.ID] = &called{Call: s.Call, at: at}
	}
	return j
}

// A reading is one result of a read while it is judged.
type reading struct {
	Result
	path    string // as asked for, without a range suffix
	key     string
	asked   span
	file    File
	on      *memory
	whole   *text // the content, if it is known
	unclear string
}

// result takes the next result of the request.
func (j *judge) result(at int, res Result) {
	call := j.calls[res.ID]
	if call == nil || res.ID == "" {
		if res.Tool != "" && res.Tool != "read" {
			return
		}
		// It may be a read of any file.
		for _, m := range j.known {
			m.forget(fmt.Sprintf("the result %q has no call, and may have shown anything", res.ID))
		}
		if c, ok := parseClaim(res.Text); ok {
			j.verdict(&reading{Result: res}, c, False, 0, "cannot be judged: the result has no call")
		}
		return
	}
	reads := make([]*Call, 0, 1)
	for _, c := range append([]*Call{call.Call}, call.again...) {
		if c.Tool == "read" {
			reads = append(reads, c)
		}
	}
	if len(reads) == 0 {
		return
	}
	// Of several files that it may be of, the others are not known from here on either.
	for _, c := range reads[1:] {
		j.reading(c, res).on.forget(fmt.Sprintf("the result %q has more than one call", res.ID))
	}
	rd := j.reading(reads[0], res)
	switch {
	case len(call.again) > 0:
		rd.unclear = "more than one call has this id"
	case at < call.at:
		rd.unclear = "the result stands before its call"
	case call.Odd:
		rd.unclear = "the call's arguments are not those of a read"
	case res.Odd:
		rd.unclear = "the result is not a single text"
	}
	j.read(rd)
}

// reading finds out what a result of the call is about.
func (j *judge) reading(call *Call, res Result) *reading {
	rd := &reading{Result: res}
	found := false
	if j.files != nil {
		rd.file, found = j.files(call.ID, call.Path)
	}
	rd.path, rd.asked = call.target(rd.file.Path)
	rd.key = rd.file.Path
	if rd.key == "" {
		rd.key = lexical(j.dir, rd.path)
	}
	rd.on = j.known[rd.key]
	if rd.on == nil {
		rd.on = &memory{}
		j.known[rd.key] = rd.on
	}
	if found && rd.file.part == nil {
		rd.whole = j.text(rd.file.Bytes)
	}
	return rd
}

// read judges a claim, and learns what a plain read shows.
func (j *judge) read(rd *reading) {
	if rd.unclear == "" && rd.whole != nil {
		if sh, ok := shows(rd.Text, rd.asked, rd.whole); ok {
			j.learn(rd, sh)
			return
		}
	}
	if c, ok := parseClaim(rd.Text); ok {
		j.claim(rd, c)
		return
	}
	if rd.Error || rd.file.Failed || errorForm.MatchString(rd.Text) {
		return
	}
	if rd.unclear == "" && rd.whole == nil {
		if sh, ok := guess(rd.Text, rd.asked, rd.file.part); ok {
			j.learn(rd, sh)
			return
		}
	}
	why := "is not text of the file"
	if rd.unclear != "" {
		why = "cannot be judged: " + rd.unclear
	}
	rd.on.forget(fmt.Sprintf("the result of call %s %s, so that what was seen last is not known", rd.ID, why))
}

// learn notes what a plain read shows. An error shows nothing, whatever its text.
func (j *judge) learn(rd *reading, sh showing) {
	if rd.Error || rd.file.Failed {
		return
	}
	rd.on.show(sh, rd.ID)
}

func (j *judge) text(raw []byte) *text {
	t := j.texts[string(raw)]
	if t == nil {
		t = wholeText(string(raw))
		j.texts[t.raw] = t
	}
	return t
}

func (j *judge) verdict(rd *reading, c *claim, s State, line int, reason string) {
	j.out = append(j.out, Verdict{
		CallID: rd.ID, Path: rd.key, Claim: rd.Text, Kind: c.kind, State: s, Start: c.start, End: c.end, Line: line, Reason: reason,
	})
}
