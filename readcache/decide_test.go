package readcache

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deja/config"
	"deja/object"
	"deja/session"
	"deja/textfile"
	"deja/trust"
)

func minSaving(n int) func(*config.Config) { return func(c *config.Config) { c.MinSaving = n } }

// Every reason, and how to get there.
var reasons = map[Reason]func(t *testing.T, s *stage){
	// spec 6.3, spec 7.1
	ReasonClaim: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.plain(s.read("a"), ReasonNoBase, trust.ModeFull, "full")
		s.claim(s.read("a"), trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]")
	},
	// spec 6.9
	ReasonNoBase: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.read("a", 10, 11)
		s.plain(s.read("a", 50, 11), ReasonNoBase, trust.ModeFull, "r:50:60")
		s.plain(s.read("a"), ReasonNoBase, trust.ModeFull, "full")
	},
	// spec 6.4, spec 6.9: changed lines are served in full, never as a diff
	ReasonChanged: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		first := s.read("a")
		s.write("a", numbered(120, map[int]string{12: "changed"}))
		d := s.read("a", 10, 11)
		s.plain(d, ReasonChanged, trust.ModeFallback, "r:10:20")
		if d.Meta.BaseHash != first.Meta.ServedHash {
			t.Errorf("baseHash %s, want the first version", d.Meta.BaseHash)
		}
	},
	// spec 6.9, spec 6.10: a missing version costs the diff
	ReasonNoObject: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.read("a")
		if err := os.RemoveAll(s.engine.Store().Dir()); err != nil {
			t.Fatal(err)
		}
		s.write("a", numbered(120, map[int]string{12: "changed"}))
		s.plain(s.decide(request("a", 100, 5)), ReasonNoObject, trust.ModeFallback, "r:100:104")
		s.plain(s.decide(request("a")), ReasonNoObject, trust.ModeFallback, "full")
		// What needs no object goes on.
		s.write("a", file(120))
		s.claim(s.decide(request("a")), trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]")
	},
	// spec 3.6
	ReasonUnproven: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.foreign("a", 10, 11, "something else")
		s.plain(s.decide(request("a", 10, 11)), ReasonUnproven, trust.ModeFallback, "r:10:20")
	},
	// spec 6.7, spec 1.5
	ReasonNoSaving: func(t *testing.T, s *stage) {
		s.write("a", "x\ny\n")
		s.read("a")
		s.plain(s.read("a"), ReasonNoSaving, trust.ModeFallback, "full")
	},
	// spec 6.8
	ReasonRepeat: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.read("a")
		s.read("a")
		s.read("a")
		s.plain(s.read("a"), ReasonRepeat, trust.ModeFallback, "full")
		s.claim(s.read("a"), trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]")
	},
	// spec 6.1
	ReasonDisabled: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.read("a")
		s.engine.config.Enabled = false
		d := s.decide(request("a:1-5"))
		s.plain(d, ReasonDisabled, "", "")
		if d.Plain.Path != "a:1-5" || d.Plain.Offset != nil {
			t.Errorf("arguments %+v, want them as they came", d.Plain)
		}
	},
	// spec 6.2, spec 9.4
	ReasonExcluded: func(t *testing.T, s *stage) {
		s.write(".env", file(120))
		s.plain(s.read(".env"), ReasonExcluded, "", "")
		if err := os.Symlink(s.path(".env"), s.path("harmless")); err != nil {
			t.Fatal(err)
		}
		s.plain(s.read("harmless"), ReasonExcluded, "", "")
		if stats, err := s.engine.Store().Stats(); err != nil || stats.Objects != 0 {
			t.Errorf("%+v %v: a secret was stored", stats, err)
		}
	},
	// spec 2.5, spec 6.1
	ReasonArguments: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.read("a")
		req := request("a")
		req.Odd = true
		s.plain(s.decide(req), ReasonArguments, "", "")
	},
	// spec 6.2
	ReasonNotFound: func(t *testing.T, s *stage) { s.plain(s.read("nowhere"), ReasonNotFound, "", "") },
	ReasonUnreadable: func(t *testing.T, s *stage) {
		s.write("a", "x")
		s.plain(s.read("a/b"), ReasonUnreadable, "", "")
	},
	// spec 2.9
	ReasonNotRegular: func(t *testing.T, s *stage) { s.plain(s.decide(request(".")), ReasonNotRegular, "", "") },
	// spec 2.6
	ReasonNotText: func(t *testing.T, s *stage) {
		s.write("a", "caf\xe9\n")
		s.plain(s.read("a"), ReasonNotText, "", "")
		s.write("a", "GIF89a")
		s.plain(s.read("a"), ReasonNotText, "", "")
	},
	// spec 2.9
	ReasonTooLarge: func(t *testing.T, s *stage) {
		s.engine.config.MaxFileBytes = 100
		s.write("a", strings.Repeat("x", 101))
		s.plain(s.read("a"), ReasonTooLarge, "", "")
		s.write("a", strings.Repeat("x", 100))
		s.plain(s.read("a"), ReasonNoBase, trust.ModeFull, "full")
	},
	// spec 6.2
	ReasonPastEnd: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.read("a")
		s.plain(s.decide(request("a", 121)), ReasonPastEnd, "", "")
		s.plain(s.decide(request("a", 120)), ReasonNoSaving, trust.ModeFallback, "r:120:120")
	},
	// spec 2.3: the host opens the path as it is written, and a link makes its cleaned form another file.
	ReasonNoKey: func(t *testing.T, s *stage) {
		s.engine.dialect = textfile.Pi073
		s.write("f", file(120))
		if err := os.MkdirAll(s.path("x/y"), 0o700); err != nil {
			t.Fatal(err)
		}
		s.write("x/f", file(130))
		if err := os.Symlink("x/y", s.path("link")); err != nil {
			t.Fatal(err)
		}
		s.plain(s.decide(Request{Path: s.dir + "/link/../f"}), ReasonNoKey, "", "")
	},
	// spec 3.3
	ReasonNothing: func(t *testing.T, s *stage) {
		s.write("a", strings.Repeat("x", 60_000)+"\nsecond\n")
		s.plain(s.read("a"), ReasonNothing, "", "")
		s.plain(s.read("a"), ReasonNothing, "", "")
	},
	// spec 6.11
	ReasonCancelled: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		s.read("a")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		s.plain(s.engine.Decide(ctx, s.state(), request("a")), ReasonCancelled, "", "")
	},
	// spec 2.4
	ReasonBadRange: func(t *testing.T, s *stage) {
		s.write("a", file(120))
		for _, path := range []string{"a:0", "a:5-4", "a:0-3"} {
			d := s.decide(request(path))
			if d.Reason != ReasonBadRange || d.Plain != nil || d.Meta != nil || d.Text != "" || !strings.Contains(d.Error, "path:start-end") {
				t.Errorf("%s: %+v", path, d)
			}
		}
	},
}

// unreached says which reasons no call of Decide can have.
var unreached = map[Reason]string{
	ReasonInternalError: "for a host that catches a panic of the engine",
}

// spec 8.2: every answer has a reason code, and every code is the reason of some answer.
func TestEveryReason(t *testing.T) {
	src, err := os.ReadFile("reason.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`Reason = "(\w+)"`).FindAllStringSubmatch(string(src), -1)
	if len(all) < 20 {
		t.Fatalf("only %d reasons found in reason.go", len(all))
	}
	for _, m := range all {
		reason := Reason(m[1])
		if _, found := unreached[reason]; found {
			continue
		}
		play := reasons[reason]
		if play == nil {
			t.Errorf("%s is not tested", reason)
			continue
		}
		t.Run(m[1], func(t *testing.T) { play(t, newStage(t)) })
	}
}

// spec 7.1, spec 7.2, spec 7.3: the texts to the letter. spec 6.6: the part that the limits let through.
// spec 7.4: asked again, the same diff.
func TestTexts(t *testing.T) {
	change := map[int]string{50: "changed"}
	for _, c := range []struct {
		name   string
		before string
		reads  [][]int
		after  string
		ask    []int
		mode   trust.Mode
		scope  string
		want   string
	}{
		{"unchanged", file(120), [][]int{{}}, file(120), nil, trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]"},
		{"lines", file(120), [][]int{{10, 11}}, file(120), []int{10, 11}, trust.ModeUnchangedRange, "r:10:20", "[readcache: unchanged in lines 10-20 of 120]"},
		{"lines of the whole", file(120), [][]int{{}}, file(120), []int{100}, trust.ModeUnchangedRange, "r:100:120", "[readcache: unchanged in lines 100-120 of 120]"},
		{"limit beyond the end", file(120), [][]int{{}}, file(120), []int{100, 500}, trust.ModeUnchangedRange, "r:100:120", "[readcache: unchanged in lines 100-120 of 120]"},
		{"union", file(120), [][]int{{1, 50}, {40, 30}}, file(120), []int{30, 40}, trust.ModeUnchangedRange, "r:30:69", "[readcache: unchanged in lines 30-69 of 120]"},
		{"union of all", file(120), [][]int{{1, 50}, {51}}, file(120), nil, trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]"},
		{"all lines by number", file(120), [][]int{{}}, file(120), []int{1, 120}, trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]"},
		{"elsewhere", file(120), [][]int{{}}, numbered(120, change), []int{10, 11}, trust.ModeUnchangedRange, "r:10:20", "[readcache: unchanged in lines 10-20; changes exist outside this range]"},
		{"insertion below", file(120), [][]int{{10, 11}}, file(130), []int{10, 11}, trust.ModeUnchangedRange, "r:10:20", "[readcache: unchanged in lines 10-20; changes exist outside this range]"},
		{"2000 of 5000 lines", file(5000), [][]int{{}}, file(5000), nil, trust.ModeUnchangedRange, "r:1:2000", "[readcache: unchanged in lines 1-2000 of 5000]\n\n[3000 more lines in file. Use offset=2001 to continue.]"},
		{"2000 of 5000 lines, changed below", file(5000), [][]int{{}}, file(5001), nil, trust.ModeUnchangedRange, "r:1:2000", "[readcache: unchanged in lines 1-2000; changes exist outside this range]\n\n[3001 more lines in file. Use offset=2001 to continue.]"},
		{"2000 lines from the middle", file(5000), [][]int{{101}}, file(5000), []int{101}, trust.ModeUnchangedRange, "r:101:2100", "[readcache: unchanged in lines 101-2100 of 5000]\n\n[2900 more lines in file. Use offset=2101 to continue.]"},
		{"all of 3000 lines", file(3000), [][]int{{1, 2000}, {2001}}, file(3000), nil, trust.ModeUnchanged, "full", "[readcache: unchanged, 3000 lines]"},
		{
			"diff", file(120),
			[][]int{{}},
			numbered(120, change), nil, trust.ModeDiff, "full",
			"[readcache: 1 lines changed of 120]\n--- a/src/x.go\n+++ b/src/x.go\n@@ -47,7 +47,7 @@\n" +
				" this is line number 47 of the file\n this is line number 48 of the file\n this is line number 49 of the file\n" +
				"-this is line number 50 of the file\n+changed\n" +
				" this is line number 51 of the file\n this is line number 52 of the file\n this is line number 53 of the file\n",
		},
		{
			"diff of an append", file(120),
			[][]int{{}},
			file(120) + "one\ntwo", nil, trust.ModeDiff, "full",
			"[readcache: 2 lines changed of 121]\n--- a/src/x.go\n+++ b/src/x.go\n@@ -117,3 +117,5 @@\n" +
				" this is line number 117 of the file\n this is line number 118 of the file\n this is line number 119 of the file\n" +
				"+one\n+two\n\\ No newline at end of file\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			if err := os.Mkdir(s.path("src"), 0o700); err != nil {
				t.Fatal(err)
			}
			s.write("src/x.go", c.before)
			for _, lines := range c.reads {
				s.read("src/x.go", lines...)
			}
			s.write("src/x.go", c.after)
			d := s.read("src/x.go", c.ask...)
			s.claim(d, c.mode, c.scope, c.want)
			// spec 1.6: the same state gives the same text. spec 3.7: saved is against the plain read.
			s.leaf = "e" + strconv.Itoa(2*len(c.reads))
			again := s.decide(request("src/x.go", c.ask...))
			if diff := cmp.Diff(d.Meta, again.Meta); diff != "" || again.Text != d.Text {
				t.Errorf("another answer to the same question (-first +again):\n%s", diff)
			}
			req := request("src/x.go", c.ask...)
			plain, _ := plainText(c.after, req.Offset, req.Limit, textfile.Pi073)
			if want := int64(len(plain) - len(d.Text)); d.Meta.Saved != want || want < 1 {
				t.Errorf("saved %d, want %d", d.Meta.Saved, want)
			}
		})
	}
}

// spec 1.2, spec 4.7, spec 6.4: what is no claim, though a part of it is known.
func TestNoClaim(t *testing.T) {
	for _, c := range []struct {
		name   string
		before string
		reads  [][]int
		after  string
		ask    []int
		why    Reason
		mode   trust.Mode
		scope  string
	}{
		{"insertion above", file(120), [][]int{{}}, "new\n" + file(120), []int{10, 11}, ReasonChanged, trust.ModeFallback, "r:10:20"},
		{"deletion above", file(120), [][]int{{}}, file(120)[35:], []int{10, 11}, ReasonChanged, trust.ModeFallback, "r:10:20"},
		{"lines of a cut read past the cut", file(5000), [][]int{{}}, file(5000), []int{4000, 10}, ReasonNoBase, trust.ModeFull, "r:4000:4009"},
		{"change past a cut", file(5000), [][]int{{4000, 10}}, file(5001), nil, ReasonNoBase, trust.ModeFull, "r:1:2000"},
		{"a hole", file(120), [][]int{{1, 50}, {52}}, file(120), nil, ReasonNoBase, trust.ModeFull, "full"},
		{"new lines past the old end", file(120), [][]int{{}}, file(140), []int{125, 5}, ReasonChanged, trust.ModeFallback, "r:125:129"},
		{"a part only", file(120), [][]int{{1, 5}}, file(120), nil, ReasonNoBase, trust.ModeFull, "full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			s.write("a", c.before)
			for _, lines := range c.reads {
				s.read("a", lines...)
			}
			s.write("a", c.after)
			s.plain(s.read("a", c.ask...), c.why, c.mode, c.scope)
		})
	}
}

// spec 3.1, spec 3.2, spec 3.3: the fields of the metadata.
func TestMetadata(t *testing.T) {
	s := newStage(t)
	content := file(3000)
	s.write("a", content)
	d := s.read("a")
	text, _, _ := s.answer(d)
	want := &Meta{
		V: 1, PathKey: s.path("a"), ScopeKey: "r:1:2000", ServedHash: object.Sum([]byte(content)), Mode: trust.ModeFull,
		TotalLines: 3000, RangeStart: 1, RangeEnd: 2000, Bytes: len(content), Digest: Digest(text)[:32],
	}
	if diff := cmp.Diff(want, d.Meta); diff != "" {
		t.Errorf("a cut read (-want +got):\n%s", diff)
	}
	claim := s.read("a", 11, 20).Meta
	saved := claim.Saved
	want = &Meta{
		V: 1, PathKey: s.path("a"), ScopeKey: "r:11:30", ServedHash: want.ServedHash, BaseHash: want.ServedHash, Mode: trust.ModeUnchangedRange,
		TotalLines: 3000, RangeStart: 11, RangeEnd: 30, Bytes: len(content), Digest: Digest("[readcache: unchanged in lines 11-30 of 3000]")[:32], Saved: saved,
	}
	if diff := cmp.Diff(want, claim); diff != "" {
		t.Errorf("a claim (-want +got):\n%s", diff)
	}
}

// spec 2.5: an offset or limit below 1 is the host's business, without metadata.
func TestOffsetsAndLimitsBelowOne(t *testing.T) {
	for _, lines := range [][]int{{0}, {-3}, {1, 0}, {1, -1}, {0, 5}, {5, -2}} {
		s := newStage(t)
		s.write("a", file(120))
		s.plain(s.decide(request("a", lines...)), ReasonArguments, "", "")
		s.read("a")
		s.plain(s.decide(request("a", lines...)), ReasonArguments, "", "")
	}
}

// spec 2.4: path:start-end is the range, with the file as key.
func TestRangeInThePath(t *testing.T) {
	s := newStage(t)
	s.write("a", file(120))
	d := s.read("a:10-20")
	s.plain(d, ReasonNoBase, trust.ModeFull, "r:10:20")
	if d.Plain.Path != "a" || *d.Plain.Offset != 10 || *d.Plain.Limit != 11 || d.Meta.PathKey != s.path("a") {
		t.Errorf("%+v, key %s", d.Plain, d.Meta.PathKey)
	}
	s.claim(s.read("a", 10, 11), trust.ModeUnchangedRange, "r:10:20", "[readcache: unchanged in lines 10-20 of 120]")
	s.claim(s.decide(request("a:15")), trust.ModeUnchangedRange, "r:15:15", "[readcache: unchanged in lines 15-15 of 120]")
}

// spec 6.7: minSaving is by how much a claim must be shorter.
func TestMinSaving(t *testing.T) {
	stub := "[readcache: unchanged, 1 lines]"
	for _, c := range []struct {
		name  string
		least int
		size  int
		claim bool
	}{
		{"as long, default", 1, len(stub), false},
		{"one shorter, default", 1, len(stub) + 1, true},
		{"as long, none asked", 0, len(stub), true},
		{"longer, none asked", 0, len(stub) - 1, false},
		{"too little", 100, len(stub) + 99, false},
		{"just enough", 100, len(stub) + 100, true},
		{"off", -1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, minSaving(c.least))
			s.write("a", strings.Repeat("x", c.size))
			s.read("a")
			d := s.read("a")
			if !c.claim {
				s.plain(d, ReasonNoSaving, trust.ModeFallback, "full")
				return
			}
			s.claim(d, trust.ModeUnchanged, "full", stub)
			if d.Meta.Saved != int64(max(0, c.size-len(stub))) {
				t.Errorf("saved %d", d.Meta.Saved)
			}
		})
	}
}

// spec 6.8: the third request in a row is served in full, whatever form it has; then it starts anew.
func TestRepeat(t *testing.T) {
	wide := [][]int{{1, 2000}, {2001, 500}}
	for _, c := range []struct {
		name  string
		lines int
		reads [][]int
		ask   []int
		scope string
	}{
		{"whole file", 120, [][]int{{}}, nil, "full"},
		{"lines", 120, [][]int{{10, 11}}, []int{10, 11}, "r:10:20"},
		{"cut read", 5000, [][]int{{}}, nil, "r:1:2000"},
		{"more lines than are shown", 5000, wide, []int{1, 2500}, "r:1:2000"},
		{"whole file of more lines than are shown", 2500, [][]int{{1, 2000}, {2001}}, nil, "r:1:2000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			s.write("a", file(c.lines))
			for _, lines := range c.reads {
				s.read("a", lines...)
			}
			for range 3 {
				for range 2 {
					if d := s.read("a", c.ask...); d.Reason != ReasonClaim {
						t.Fatalf("%s, want a claim", d.Reason)
					}
				}
				s.plain(s.read("a", c.ask...), ReasonRepeat, trust.ModeFallback, c.scope)
			}
		})
	}
}

// spec 6.8: the user, or any other tool result, ends the row.
func TestRepeatIsInARow(t *testing.T) {
	for name, between := range map[string]func(*stage){
		"user":        (*stage).user,
		"other tool":  func(s *stage) { s.add(session.Entry{Kind: session.Result}) },
		"other file":  func(s *stage) { s.read("b") },
		"other lines": func(s *stage) { s.read("a", 1, 20) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.write("a", file(120))
			s.write("b", file(120))
			s.read("a")
			for range 4 {
				s.claim(s.read("a"), trust.ModeUnchanged, "full", "[readcache: unchanged, 120 lines]")
				between(s)
			}
		})
	}
}

// spec 6.5: the limits of a diff.
func TestDiffLimits(t *testing.T) {
	scattered := map[int]string{}
	for i := 4; i < 120; i += 7 {
		scattered[i] = "changed"
	}
	for _, c := range []struct {
		name  string
		set   func(*config.Diff)
		after string
		why   Reason
	}{
		{"all lines", func(*config.Diff) {}, strings.ReplaceAll(file(120), "line", "row"), "diff_not_useful"},
		{"scattered, by bytes", func(d *config.Diff) { d.LineRatio = 1 }, numbered(120, scattered), "diff_not_useful"},
		{"line ratio", func(d *config.Diff) { d.LineRatio = 0.05 }, numbered(120, map[int]string{50: "changed"}), "diff_not_useful"},
		{"byte ratio", func(d *config.Diff) { d.ByteRatio = 0.05 }, numbered(120, map[int]string{50: "changed"}), "diff_not_useful"},
		{"bytes", func(d *config.Diff) { d.MaxBytes = 1000 }, numbered(120, map[int]string{50: "changed"}), "diff_too_large"},
		{"lines", func(d *config.Diff) { d.MaxLines = 100 }, numbered(120, map[int]string{50: "changed"}), "diff_too_large"},
		{"lines of the base only", func(d *config.Diff) { d.MaxLines = 118 }, numbered(119, map[int]string{50: "changed"}), "diff_too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, func(cfg *config.Config) { c.set(&cfg.Diff) })
			s.write("a", file(120))
			first := s.read("a")
			s.write("a", c.after)
			d := s.read("a")
			s.plain(d, c.why, trust.ModeFallback, "full")
			if d.Meta.BaseHash != first.Meta.ServedHash {
				t.Errorf("baseHash %s", d.Meta.BaseHash)
			}
			s.claim(s.read("a"), trust.ModeUnchanged, "full", "[readcache: unchanged, "+strconv.Itoa(1+strings.Count(c.after, "\n"))+" lines]")
		})
	}
}
