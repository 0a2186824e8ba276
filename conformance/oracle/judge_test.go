package oracle

import (
	"strings"
	"testing"
)

const (
	same20  = "[readcache: unchanged, 20 lines]"
	same510 = "[readcache: unchanged in lines 5-10 of 20]"
	else510 = "[readcache: unchanged in lines 5-10; changes exist outside this range]"
)

// diff12 changes line 12 of file(20) to "new".
const diff12 = "[readcache: 1 lines changed of 20]\n--- a/f\n+++ b/f\n@@ -9,7 +9,7 @@\n line 9\n line 10\n line 11\n-line 12\n+new\n line 13\n line 14\n line 15\n"

// spec 1.1, spec 7.1, spec 7.2, spec 7.3: every verdict, in all forms of a request.
func TestVerdicts(t *testing.T) {
	v1, v2, v3 := file(20), file(20, 12, "new"), file(20, 12, "newer")
	big := file(5000)
	bigCut := cut(big, 1, 2000)[:strings.Index(cut(big, 1, 2000), "\n\n[")] + "\n\n[Showing lines 1-2000 of 5000. Use offset=2001 to continue.]"
	for name, c := range map[string]struct {
		chat *chat
		want string
	}{
		"nothing claimed": {newChat().plain(v1).plain(v1), ""},
		"whole":           {newChat().plain(v1).read(v1, same20).read(v1, same20), "proven\nproven"},
		"whole, with a final newline": {
			newChat().plain("a\nb\n").read("a\nb\n", "[readcache: unchanged, 3 lines]").read("a\nb", "[readcache: unchanged, 2 lines]"),
			"proven\nproven",
		},
		"whole from pieces": {
			newChat().read(v1, cut(v1, 11, 20), "f", 11, 50).read(v1, cut(v1, 1, 12), "f", 1, 12).read(v1, same20), "proven",
		},
		"whole after nothing":       {newChat().read(v1, same20), "false 1: line 1 was never shown"},
		"whole, changed since":      {newChat().plain(v1).read(v2, same20), `false 12: line 12 was last seen as "line 12" (call c1); the file has "new"`},
		"whole, other count":        {newChat().plain(v1).read(v1, "[readcache: unchanged, 21 lines]"), "false: it says that the file has 21 lines; it has 20"},
		"whole, changed and back":   {newChat().plain(v1).read(v2, cut(v2, 10, 13), "f", 10, 4).read(v1, same20), `false 12: line 12 was last seen as "new" (call c2); the file has "line 12"`},
		"lines":                     {newChat().plain(v1).read(v1, same510, "f", 5, 6), "proven"},
		"lines by suffix":           {newChat().plain(v1).read(v1, same510, "f:5-10").read(v1, "[readcache: unchanged in lines 7-7 of 20]", "f:7"), "proven\nproven"},
		"lines to the end":          {newChat().plain(v1).read(v1, "[readcache: unchanged in lines 15-20 of 20]", "f", 15, 100), "proven"},
		"lines of a range":          {newChat().read(v1, cut(v1, 3, 12), "f", 3, 10).read(v1, same510, "f", 5, 6), "proven"},
		"lines never shown":         {newChat().read(v1, cut(v1, 3, 8), "f", 3, 6).read(v1, same510, "f", 5, 6), "false 9: line 9 was never shown"},
		"lines, hole in the middle": {newChat().read(v1, cut(v1, 3, 6), "f", 3, 4).read(v1, cut(v1, 8, 12), "f", 8, 5).read(v1, same510, "f", 5, 6), "false 7: line 7 was never shown"},
		"lines of a changed file":   {newChat().plain(v1).read(v2, else510, "f", 5, 6), "proven"},
		"lines that changed": {
			newChat().plain(v1).read(v2, "[readcache: unchanged in lines 10-14; changes exist outside this range]", "f", 10, 5),
			`false 12: line 12 was last seen as "line 12" (call c1); the file has "new"`,
		},
		"lines, other count":     {newChat().plain(v1).read(v1, "[readcache: unchanged in lines 5-10 of 21]", "f", 5, 6), "false: it says that the file has 21 lines; it has 20"},
		"lines past the end":     {newChat().plain(v1).read(v1, "[readcache: unchanged in lines 18-22; changes exist outside this range]", "f", 18, 5), "false: the file has only 20 lines"},
		"other lines than asked": {newChat().plain(v1).read(v1, same510, "f", 4, 7), "false: it is for lines from 5 on; asked for were lines from 4 on"},
		"fewer lines than asked": {newChat().plain(v1).read(v1, same510, "f", 5, 9), "false: it ends with line 10 without saying so; asked for were lines to 13"},
		"up to pi's limit": {
			newChat().read(big, bigCut).read(big, "[readcache: unchanged in lines 1-2000 of 5000]\n\n[3000 more lines in file. Use offset=2001 to continue.]"), "proven",
		},
		"up to pi's limit, wrong notice": {
			newChat().read(big, bigCut).read(big, "[readcache: unchanged in lines 1-2000 of 5000]\n\n[3000 more lines in file. Use offset=2002 to continue.]"),
			"false: its notice on how to continue has wrong numbers",
		},
		"a notice where nothing is left": {
			newChat().plain(v1).read(v1, same510+"\n\n[10 more lines in file. Use offset=11 to continue.]", "f", 5, 6),
			"false: it says that lines are left, and all that were asked for are claimed",
		},
		"diff":                      {newChat().plain(v1).read(v2, diff12).read(v2, same20), "proven\nproven"},
		"diff after elsewhere":      {newChat().plain(v1).read(v2, else510, "f", 5, 6).read(v2, diff12), "proven\nproven"},
		"diff, new lines seen":      {newChat().plain(v1).read(v2, cut(v2, 11, 14), "f", 11, 4).read(v2, diff12), "proven"},
		"diff twice":                {newChat().plain(v1).read(v2, diff12).read(v2, diff12), "proven\nproven"},
		"diff, other lines seen":    {newChat().plain(v1).read(v3, cut(v3, 11, 14), "f", 11, 4).read(v2, diff12), `false 12: line 12 was last seen as "newer" (call c2), which is on neither side of the diff`},
		"diff of an unknown base":   {newChat().read(v2, diff12), "false 1: the diff needs the whole text: line 1 was never shown"},
		"diff of a part":            {newChat().read(v1, cut(v1, 1, 15), "f", 1, 15).read(v2, diff12), "false 16: the diff needs the whole text: line 16 was never shown"},
		"diff of an older base":     {newChat().plain(v1).plain(v3).read(v2, diff12), "false 12: the diff does not apply to the last known whole text: it takes line 12 to be \"line 12\\n\""},
		"diff to another text":      {newChat().plain(v1).read(v3, diff12), `false 12: the diff leads to "new" as line 12; the file has "newer"`},
		"diff, other count":         {newChat().plain(v1).read(v2, strings.Replace(diff12, "[readcache: 1 ", "[readcache: 2 ", 1)), "false: it says that 2 lines changed; the diff changes 1"},
		"diff of another file":      {newChat().plain(v1).read(v2, strings.ReplaceAll(diff12, "/f\n", "/g\n")), `false: the diff is of "g"`},
		"diff without its end":      {newChat().plain(v1).read(v2, diff12[:len(diff12)-9]), `false: the hunk "@@ -9,7 +9,7 @@\n" ends early`},
		"damaged":                   {newChat().plain(v1).read(v1, "[readcache: unchanged]").read(v1, same20), "false: it has none of the exact forms of a claim\nfalse 1: line 1 is not known: the result of call c2 is a claim that cannot be followed"},
		"with an addition":          {newChat().plain(v1).read(v1, same20+"\n\nand more"), "false: something follows the claim"},
		"reversed lines":            {newChat().plain(v1).read(v1, "[readcache: unchanged in lines 10-5 of 20]", "f", 5, 6), "false: it has none of the exact forms of a claim"},
		"not UTF-8":                 {newChat().read("a\xff", "a�").read("a\xff", "[readcache: unchanged, 1 lines]"), "false: the file is no UTF-8 text"},
		"a file that holds a claim": {newChat().plain(same20).read(same20, "[readcache: unchanged, 1 lines]"), "proven"},
		"an empty file": {
			newChat().read("", "").read("", "(no tool output)").read("", "[readcache: unchanged, 1 lines]"), "proven",
		},
		"an empty last line": {newChat().plain("a\n").read("a\n", "(see attached image)", "f", 2, 1).read("a\n", "[readcache: unchanged, 2 lines]"), "proven"},
		"no line shown":      {newChat().read("a\nb", "\n\n[2 more lines in file. Use offset=1 to continue.]", "f", 1, 0).read("a\nb", "[readcache: unchanged, 2 lines]"), "false 1: line 1 was never shown"},
		"shorter, and long again": {
			newChat().plain(v1).plain("line 1").read(v1, "[readcache: unchanged in lines 5-10 of 20]", "f", 5, 6), "false 5: line 5 was never shown",
		},
		"a whole text of old pieces": {
			newChat().plain(v1).read(v3, cut(v3, 1, 12), "f", 1, 12).read(v3, cut(v3, 12, 20), "f", 12, 9).read(v2, cut(v2, 11, 14), "f", 11, 4).read(v2, diff12),
			"false 12: the diff does not apply to the last known whole text: it takes line 12 to be \"line 12\\n\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := brief(c.chat.judge(t)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// A verdict names what it is about.
func TestVerdictFields(t *testing.T) {
	got := newChat().plain(file(20)).read(file(20, 6, "x"), same510, "f", 5, 6).judge(t)
	want := `{"call":"c2","path":"/w/f","claim":"[readcache: unchanged in lines 5-10 of 20]","kind":"unchanged_lines","state":"false","start":5,"end":10,"line":6,"reason":"line 6 was last seen as \"line 6\" (call c1); the file has \"x\""}`
	if len(got) != 1 || string(marshal(got[0])) != want {
		t.Errorf("%s", marshal(got))
	}
	if s := got[0].String(); !strings.HasPrefix(s, "false c2 /w/f: [readcache: unchanged in lines 5-10 of 20] (line 6 was last seen") {
		t.Error(s)
	}
}

// Without the contents a claim is false if it is so for any content, and else unknown.
func TestWithoutContents(t *testing.T) {
	v1, v2 := file(20), file(20, 12, "new")
	const unknown = "unknown: the file's content at that read is not known"
	for name, c := range map[string]struct {
		chat *chat
		want string
	}{
		"whole":              {newChat().plain(v1).read(v1, same20), unknown},
		"whole, not shown":   {newChat().read(v1, cut(v1, 1, 8), "f", 1, 8).read(v1, same20), "false 9: line 9 was never shown"},
		"lines":              {newChat().plain(v1).read(v1, same510, "f", 5, 6), unknown},
		"diff":               {newChat().plain(v1).read(v2, diff12).read(v2, same20), unknown + "\n" + unknown},
		"diff, not a base":   {newChat().plain(v2).read(v2, diff12), "false 12: the diff does not apply to the last known whole text: it takes line 12 to be \"line 12\\n\""},
		"diff, other length": {newChat().plain(v1).read(v2, strings.Replace(diff12, "of 20", "of 21", 1)), "false: it says that the file has 21 lines; the diff leads to 20"},
		"other spelling":     {newChat().plain(v1).read(v1, same20, "./x/../f").read(v1, same20, "@f").read(v1, same20, "/w/f"), unknown + "\n" + unknown + "\n" + unknown},
		"other file":         {newChat().plain(v1).read(v1, same20, "g"), "false 1: line 1 was never shown"},
		"placeholder":        {newChat().plain(v1).read(v1, "(no tool output)").read(v1, same20), "false 1: line 1 is not known: the result of call c2 is not text of the file, so that what was seen last is not known"},
		"bad notice":         {newChat().plain(v1).read(v1, "x\n\n[Showing lines 1-3 of 9. Use offset=4 to continue.]").read(v1, same20), "false 1: line 1 is not known: the result of call c2 is not text of the file, so that what was seen last is not known"},
		"more than asked":    {newChat().plain(v1).read(v1, "x\ny\nz", "f", 1, 2).read(v1, same20), "false 1: line 1 is not known: the result of call c2 is not text of the file, so that what was seen last is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := brief(c.chat.Judge(nil)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
