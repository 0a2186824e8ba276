package oracle

import (
	"fmt"
	"strings"
	"testing"
)

const unplaced = "false 1: line 1 is not known: the result of call %s is not text of the file, so that what was seen last is not known"

// drop takes the call and the result of a read out of the request.
func (c *chat) drop(id string) *chat {
	var kept []Step
	for _, s := range c.Steps {
		if s.Call != nil && s.Call.ID == id || s.Result != nil && s.Result.ID == id {
			continue
		}
		kept = append(kept, s)
	}
	c.Steps = kept
	return c
}

// rewrite puts text in the place of a result's, as another extension or a provider would.
func (c *chat) rewrite(id, text string) *chat {
	for _, s := range c.Steps {
		if s.Result != nil && s.Result.ID == id {
			s.Result.Text = text
		}
	}
	return c
}

// shell adds a call of bash with its output.
func (c *chat) shell(output string) *chat {
	id := fmt.Sprintf("b%d", len(c.Steps))
	c.call(&Call{ID: id, Tool: "bash", Path: "x"})
	c.result(Result{ID: id, Tool: "bash", Text: output})
	return c
}

// spec 1.1: the classes of false claims that a request can show. The number is that of the class in
// the list of ways a read cache lies; each has the lie and, where there is one, the honest twin.
func TestFalseStubs(t *testing.T) {
	v1, v2 := file(20), file(20, 12, "new")
	big := file(3000)
	bigCut := big[:strings.Index(big, "\nline 2001")] + "\n\n[Showing lines 1-2000 of 3000. Use offset=2001 to continue.]"
	twice := func() *chat { return newChat().plain(v1).read(v1, same20) }
	for name, c := range map[string]struct {
		chat *chat
		want string
	}{
		"1, 5, 6, 7, 8, 11, 14, 22: the carrier is not in the request": {twice().drop("c1"), "false 1: line 1 was never shown"},
		"3, 4: the carrier was pruned to a placeholder":                {twice().rewrite("c1", "[Old tool result content cleared]"), fmt.Sprintf(unplaced, "c1")},
		"4: the provider cleared what came between":                    {twice().plain(v1).read(v1, same20).rewrite("c1", "[cleared]").rewrite("c2", v1), "proven"},
		"9: a retry dropped one of two pieces": {
			newChat().read(v1, cut(v1, 1, 10), "f", 1, 10).read(v1, cut(v1, 11, 20), "f", 11, 10).read(v1, same20).drop("c1"), "false 1: line 1 was never shown",
		},
		"12: the text is only in a summary": {newChat().shell(v1).read(v1, same20), "false 1: line 1 was never shown"},
		"13: restored in part":              {twice().rewrite("c1", file(15)), fmt.Sprintf(unplaced, "c1")},
		"14: a diff whose base is gone":     {newChat().plain(v1).read(v2, diff12).drop("c1"), "false 1: the diff needs the whole text: line 1 was never shown"},
		"14: and what is built on it":       {newChat().plain(v1).read(v2, diff12).read(v2, same20).rewrite("c2", "[pruned]"), fmt.Sprintf(unplaced, "c2")},
		"15: edited out":                    {twice().rewrite("c1", ""), fmt.Sprintf(unplaced, "c1")},
		"19: nothing but an abort":          {newChat().read(v1, "Operation aborted").read(v1, same20), "false 1: line 1 was never shown"},
		"19: an abort after the text":       {newChat().plain(v1).read(v1, "Operation aborted").read(v1, same20), "proven"},
		"20: an error":                      {newChat().read(v1, "ENOENT: no such file or directory, access '/w/f'").read(v1, same20), "false 1: line 1 was never shown"},
		"21: redacted":                      {twice().rewrite("c1", file(20, 12, "[secret]")), fmt.Sprintf(unplaced, "c1")},
		"21: redacted, then shown":          {newChat().read(v1, file(20, 12, "x")).plain(v1).read(v1, same20), "proven"},
		"23: a claim before its carrier":    {newChat().read(v1, same20).plain(v1), "false 1: line 1 was never shown"},
		"25: cut behind the tool's back":    {twice().rewrite("c1", v1[:100]+"\n... [truncated]"), fmt.Sprintf(unplaced, "c1")},
		"25: cut at a line":                 {twice().rewrite("c1", file(15)), fmt.Sprintf(unplaced, "c1")},
		"27: a cut read as a whole":         {newChat().read(big, bigCut).read(big, "[readcache: unchanged, 3000 lines]"), "false 2001: line 2001 was never shown"},
		"27: lines past the cut":            {newChat().read(big, bigCut).read(big, "[readcache: unchanged in lines 2400-2409 of 3000]", "f", 2400, 10), "false 2400: line 2400 was never shown"},
		"28: a diff past the cut": {
			newChat().read(big, bigCut).read(big, strings.Replace(diff12, "of 20", "of 3000", 1)), "false 2001: the diff needs the whole text: line 2001 was never shown",
		},
		"29: a line over the limit": {
			newChat().read(v1, "[Line 1 is 60.0KB, exceeds 50.0KB limit. Use bash: sed -n '1p' f | head -c 51200]").read(v1, same20), "false 1: line 1 was never shown",
		},
		"30: a part as the whole":  {newChat().read(v1, cut(v1, 1, 5), "f", 1, 5).read(v1, same20), "false 6: line 6 was never shown"},
		"31: another part":         {newChat().read(v1, cut(v1, 1, 5), "f", 1, 5).read(v1, same510, "f", 5, 6), "false 6: line 6 was never shown"},
		"32: lines past the end":   {newChat().plain(v1).read(v1, "[readcache: unchanged in lines 21-25 of 25]", "f", 21, 5), "false: it says that the file has 25 lines; it has 20"},
		"33: an outline":           {newChat().read(v1, "20 lines, 1 function").read(v1, same20), fmt.Sprintf(unplaced, "c1")},
		"34: another rendering":    {newChat().read(v1, "1: "+strings.ReplaceAll(v1, "\n", "\n9: ")).read(v1, same20), fmt.Sprintf(unplaced, "c1")},
		"35: moved, not delivered": {newChat().plain(v1).read(v2, else510, "f", 5, 6).read(v2, same20), "proven\nfalse 12: line 12 was last seen as \"line 12\" (call c1); the file has \"new\""},
		"36: a stub as carrier":    {newChat().plain(v1).read(v1, same20).read(v1, same20).drop("c1"), "false 1: line 1 was never shown\nfalse 1: line 1 was never shown"},
		"37: an own edit":          {newChat().plain(v1).shell("edited line 12").read(v2, same20), "false 12: line 12 was last seen as \"line 12\" (call c1); the file has \"new\""},
		"39, 40: shell output":     {newChat().shell(v1).read(v1, same20), "false 1: line 1 was never shown"},
		"41, 42: changed unseen":   {newChat().plain(v1).read(v2, same20), "false 12: line 12 was last seen as \"line 12\" (call c1); the file has \"new\""},
		"44: shown and hashed are two reads": {
			newChat().read(v2, v1).read(v2, same20), fmt.Sprintf(unplaced, "c1"),
		},
		"46, 47, 51: another file of that name or content": {twice().at("c2", "/other/f"), "false 1: line 1 was never shown"},
		"48: a lossy view":      {newChat().read("a\r\nb", "a\nb").read("a\r\nb", "[readcache: unchanged, 2 lines]"), fmt.Sprintf(unplaced, "c1")},
		"48: a byte order mark": {newChat().read("\ufeffa", "a").read("\ufeffa", "[readcache: unchanged, 1 lines]"), fmt.Sprintf(unplaced, "c1")},
		"49: an insertion above": {
			newChat().plain(v1).read("x\n"+v1, else510, "f", 5, 6), "false 5: line 5 was last seen as \"line 5\" (call c1); the file has \"line 4\"",
		},
		"50: wrong numbers": {newChat().read(v1, cut(v1, 6, 12), "f", 5, 7).read(v1, same510, "f", 5, 6), "false 5: line 5 is not known: the result of call c1 is not text of the file, so that what was seen last is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := brief(c.chat.judge(t)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// at says that a read opened another file.
func (c *chat) at(id, path string) *chat {
	f := c.files[id]
	f.Path = path
	c.files[id] = f
	return c
}

// spec 3.5: an error shows nothing; a claim in one is judged all the same.
func TestErrors(t *testing.T) {
	v1, v2 := file(20), file(20, 12, "new")
	mark := func(c *chat, at int) *chat { c.Steps[at].Result.Error = true; return c }
	for name, c := range map[string]struct {
		chat *chat
		want string
	}{
		"text in an error":        {mark(newChat().plain(v1).read(v1, same20), 1), "false 1: line 1 was never shown"},
		"old text kept":           {mark(newChat().plain(v1).read(v2, "blocked by policy").read(v1, same20), 3), "proven"},
		"a claim in an error":     {mark(newChat().plain(v1).read(v2, same20), 3), `false 12: line 12 was last seen as "line 12" (call c1); the file has "new"`},
		"a true one":              {mark(newChat().plain(v1).read(v1, same20), 3), "proven"},
		"a diff in an error":      {mark(newChat().plain(v1).read(v2, diff12).read(v2, diff12), 3), "proven\nproven"},
		"said to be an error":     {newChat().plain(v1).read(v2, "blocked").failed("c2").read(v1, same20), "proven"},
		"not said to be an error": {newChat().plain(v1).read(v2, "blocked").read(v1, same20), fmt.Sprintf(unplaced, "c2")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := brief(c.chat.Judge(c.chat.contents)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func (c *chat) failed(id string) *chat {
	f := c.files[id]
	f.Failed = true
	c.files[id] = f
	return c
}

// Requests that no host should send: nothing crashes, and in doubt a claim is false.
func TestOddRequests(t *testing.T) {
	v1 := file(20)
	twice := func() *chat { return newChat().plain(v1).read(v1, same20) }
	step := func(c *chat, order ...int) *chat {
		var out []Step
		for _, i := range order {
			out = append(out, c.Steps[i])
		}
		c.Steps = out
		return c
	}
	odd := func(c *chat, at int) *chat { c.Steps[at].Result.Odd = true; return c }
	doubleID := func() *chat {
		c := twice()
		again := *c.Steps[0].Call
		c.Steps = append([]Step{{Call: &again}}, c.Steps...)
		return c
	}
	for name, c := range map[string]struct {
		chat *chat
		want string
	}{
		"no result":                   {step(twice(), 0, 2, 3), "false 1: line 1 was never shown"},
		"result twice":                {step(twice(), 0, 1, 1, 2, 3, 3), "proven\nproven"},
		"claim before its call":       {step(twice(), 0, 1, 3, 2), "false: cannot be judged: the result stands before its call"},
		"text before its call":        {step(twice(), 1, 0, 2, 3), "false 1: line 1 is not known: the result of call c1 cannot be judged: the result stands before its call, so that what was seen last is not known"},
		"claim without a call":        {step(twice(), 0, 1, 3), "false: cannot be judged: the result has no call"},
		"a result without a call":     {step(newChat().plain(v1).plain(v1).read(v1, same20), 0, 1, 3, 4, 5), `false 1: line 1 is not known: the result "c2" has no call, and may have shown anything`},
		"two calls with one id":       {doubleID(), "false 1: line 1 is not known: the result of call c1 cannot be judged: more than one call has this id, so that what was seen last is not known"},
		"a claim that is odd":         {odd(twice(), 3), "false: cannot be judged: the result is not a single text"},
		"an image between":            {odd(newChat().plain(v1).plain(v1).read(v1, same20), 3), "false 1: line 1 is not known: the result of call c2 cannot be judged: the result is not a single text, so that what was seen last is not known"},
		"other tools without a call":  {&chat{Request{Steps: append([]Step{{Result: &Result{ID: "x", Tool: "bash", Text: same20}}}, twice().Steps...)}, twice().files}, "proven"},
		"claims of a tool called cat": {newChat().plain(v1).shell(same20), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := brief(c.chat.Judge(c.chat.contents)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
