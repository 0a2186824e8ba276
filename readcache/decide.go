package readcache

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"

	"deja/linediff"
	"deja/session"
	"deja/textfile"
	"deja/trust"
)

// read is one read while it is decided.
type read struct {
	*Engine
	ctx  context.Context
	at   session.State
	path string // the key: the absolute path that was opened
	name string // as the model wrote it

	snap  *textfile.Snapshot
	shown textfile.PlainRead // what the plain read delivers
	lo    int                // the lines asked for; lo..hi is within the file
	hi    int

	reason Reason // why there is no claim
	base   string // the version that was compared with, if any
}

// bounds makes the lines asked for out of offset and limit (spec 2.5).
func (r *read) bounds(offset, limit *int) {
	r.lo, r.hi = 1, r.snap.Total()
	if offset != nil && *offset > 1 {
		r.lo = *offset
	}
	if limit != nil {
		r.hi = min(r.hi, r.lo+max(*limit, 0)-1)
	}
	r.reason = ReasonNoBase
}

func (r *read) whole() bool { return r.lo == 1 && r.hi == r.snap.Total() }

// claim looks for something shorter than the text that is as good: for a whole file "unchanged",
// then a diff; for lines "unchanged in lines"; and last the same for the part that the host's
// limits would let through (spec 6.3).
func (r *read) claim() (Decision, bool) {
	d, ok := Decision{}, false
	if r.whole() {
		d, ok = r.claimWhole()
	} else {
		d, ok = r.claimLines(r.lo, r.hi, 0)
	}
	if ok || r.reason == ReasonRepeat || !r.shown.Cut || r.shown.End < r.shown.Start {
		return d, ok
	}
	return r.claimLines(r.shown.Start, r.shown.End, r.shown.Next)
}

func (r *read) claimWhole() (Decision, bool) {
	current := r.snap.Hash()
	base, ok := r.at.Trust.Entire(r.path, current)
	if !ok || !r.proven(base) {
		return Decision{}, false
	}
	if base.Hash == current {
		if base.Lines != r.snap.Total() { // metadata that lies about the length: lines may be unseen
			r.reason = ReasonUnproven
			return Decision{}, false
		}
		return r.serve(trust.ModeUnchanged, trust.Full, base, unchangedText(r.snap.Total()))
	}
	old, ok := r.load(base.Hash)
	if !ok {
		return Decision{}, false
	}
	if old.Total() != base.Lines {
		r.reason = ReasonUnproven
		return Decision{}, false
	}
	lines := 1 + strings.Count(r.shown.Text, "\n")
	diff, why := linediff.Make(r.ctx, strings.TrimLeft(r.name, "/"), old.Bytes(), r.snap.Bytes(), len(r.shown.Text), lines, r.diffLimits())
	if why != "" {
		r.reason = Reason(why)
		return Decision{}, false
	}
	return r.serve(trust.ModeDiff, trust.Full, base, diffText(diff.Changed, r.snap.Total(), diff.Text))
}

// claimLines claims lo..hi. If next is not 0 the claim ends there because the host's limits do,
// and says how to go on.
func (r *read) claimLines(lo, hi, next int) (Decision, bool) {
	current, total := r.snap.Hash(), r.snap.Total()
	base, ok := r.at.Trust.Range(r.path, lo, hi, current)
	if !ok || !r.proven(base) {
		return Decision{}, false
	}
	text := unchangedRangeText(lo, hi, total)
	if base.Hash != current {
		old, ok := r.load(base.Hash)
		if !ok {
			return Decision{}, false
		}
		if old.Total() < hi || !bytes.Equal(old.Slice(lo, hi), r.snap.Slice(lo, hi)) {
			r.reason = ReasonChanged
			return Decision{}, false
		}
		text = elsewhereText(lo, hi)
	}
	return r.serve(trust.ModeUnchangedRange, trust.Lines(lo, hi), base, text+continuation(next, total))
}

// serve makes a claim of text, unless it is no gain or has not helped the last two times.
func (r *read) serve(mode trust.Mode, scope trust.Scope, base trust.Base, text string) (Decision, bool) {
	saved := len(r.shown.Text) - len(text)
	if least := r.config.MinSaving; least >= 0 && saved < least {
		r.reason = ReasonNoSaving
		return Decision{}, false
	}
	if again := r.at.Repeat; again.N >= 2 && again.Path == r.path && again.Scope == scope {
		r.reason = ReasonRepeat
		return Decision{}, false
	}
	if r.ctx.Err() != nil {
		r.reason = ReasonCancelled
		return Decision{}, false
	}
	m := r.meta(mode, scope, base.Hash)
	m.Digest = Digest(text)[:digestLen]
	m.Saved = int64(max(saved, 0))
	return Decision{Reason: ReasonClaim, Text: text, Meta: m, keep: r.snap}, true
}

// plain completes a plain read with what it will deliver. One that delivers no line carries no
// metadata.
func (r *read) plain(d Decision) Decision {
	if r.shown.End < r.shown.Start {
		d.Reason = ReasonNothing
		return d
	}
	scope := trust.Lines(r.shown.Start, r.shown.End)
	if r.shown.Start == 1 && r.shown.End == r.snap.Total() {
		scope = trust.Full
	}
	mode := trust.ModeFull
	if r.base != "" {
		mode = trust.ModeFallback
	}
	d.Plain.Expect = Digest(r.shown.Text)
	d.Meta = r.meta(mode, scope, r.base)
	d.Meta.Digest = d.Plain.Expect[:digestLen]
	d.keep = r.snap
	return d
}

func (r *read) meta(mode trust.Mode, scope trust.Scope, base string) *Meta {
	m := &Meta{
		V: MetaVersion, PathKey: r.path, ScopeKey: scope.String(), Mode: mode,
		ServedHash: r.snap.Hash(), BaseHash: base,
		TotalLines: r.snap.Total(), RangeStart: scope.Start, RangeEnd: scope.End, Bytes: len(r.snap.Bytes()),
	}
	if scope.Whole() {
		m.RangeStart, m.RangeEnd = 1, r.snap.Total()
	}
	return m
}

// load fetches the version that a claim would be based on.
func (r *read) load(hash string) (*textfile.Snapshot, bool) {
	old, err := r.version(r.ctx, r.path, hash)
	if err != nil {
		r.reason = ReasonNoObject
	}
	return old, err == nil
}

// proven compares deliveries that came without a digest with what the plain read of that version
// delivers (spec 3.6).
func (r *read) proven(base trust.Base) bool {
	r.base = base.Hash
	for _, d := range base.Unproven {
		old, ok := r.load(d.Hash)
		if !ok {
			return false
		}
		if !delivers(old, d) {
			r.reason = ReasonUnproven
			return false
		}
	}
	return true
}

// delivers reports whether a plain read of old that delivers just these lines has this text. The
// session does not say which host wrote it, nor whether a limit was given, so each form counts.
func delivers(old *textfile.Snapshot, d trust.Delivery) bool {
	start, limit := d.Scope.Start, d.Scope.End-d.Scope.Start+1
	for _, dialect := range []textfile.Dialect{textfile.Pi073, textfile.Pi087} {
		for _, lim := range []*int{&limit, nil} {
			p, err := textfile.Plain(old, "", &start, lim, dialect)
			if err == nil && p.Start == d.Scope.Start && p.End == d.Scope.End && Digest(p.Text) == d.Text {
				return true
			}
		}
	}
	return false
}

func loadReason(ctx context.Context, err error) Reason {
	switch {
	case ctx.Err() != nil:
		return ReasonCancelled
	case errors.Is(err, textfile.ErrNotRegular):
		return ReasonNotRegular
	case errors.Is(err, textfile.ErrNotText):
		return ReasonNotText
	case errors.Is(err, textfile.ErrTooLarge):
		return ReasonTooLarge
	case errors.Is(err, fs.ErrNotExist):
		return ReasonNotFound
	}
	return ReasonUnreadable
}
