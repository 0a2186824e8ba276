package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"deja/config"
	"deja/host/pi"
	"deja/linediff"
	"deja/readcache"
	"deja/session"
	"deja/textfile"
	"deja/trust"
)

// lines is a text of n different lines.
func lines(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "	line %d of a source file, about as long as such lines are\n", i)
	}
	return b.String()
}

// branch makes a session of n entries in which every third is a read of one of 200 files, as in a
// long session of an agent, and path was read in full at its start.
func branch(n int, path, hash string, total int) (*session.Tree, string, error) {
	t := session.New()
	leaf := ""
	add := func(e session.Entry) error {
		e.ID, e.Parent = fmt.Sprintf("%08x", t.Len()), leaf
		leaf = e.ID
		return t.Add(e)
	}
	for i := range n {
		e := session.Entry{}
		switch {
		case i == 0:
			e = session.Entry{Kind: session.Result, IsRead: true, Read: &trust.Read{Path: path, Mode: trust.ModeFull, Served: hash, Lines: total}}
		case i%3 == 0:
			e = session.Entry{Kind: session.Result, IsRead: true, Read: &trust.Read{
				Path: fmt.Sprintf("/p/file%d.go", i%200), Mode: trust.ModeFull, Served: hash, Lines: total,
			}}
		case i%3 == 1:
			e.Kind = session.User
		}
		if err := add(e); err != nil {
			return nil, "", err
		}
	}
	return t, leaf, nil
}

// decision measures one decision in the engine: a new entry, the state at the leaf, the answer to a
// read of an unchanged file of 300 lines.
func decision(ctx context.Context, _ string) ([]figure, error) {
	dir, err := os.MkdirTemp("", "deja-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.go")
	if err := os.WriteFile(path, []byte(lines(300)), 0o600); err != nil {
		return nil, err
	}
	snap, err := textfile.Load(ctx, path, 1<<30)
	if err != nil {
		return nil, err
	}
	cfg, _ := config.Load(dir, dir)
	e := readcache.New(readcache.Options{Dir: dir, Home: dir, Dialect: textfile.Pi087, Config: cfg})
	sizes := []int{100, 10_000}
	took := make([][]time.Duration, 2)
	trees := make([]*session.Tree, 2)
	leaves := make([]string, 2)
	for i, n := range sizes {
		if trees[i], leaves[i], err = branch(n, path, snap.Hash(), snap.Total()); err != nil {
			return nil, err
		}
	}
	for range 3000 {
		for i := range sizes {
			id := fmt.Sprintf("new%d", trees[i].Len())
			start := time.Now()
			if err := trees[i].Add(session.Entry{ID: id, Parent: leaves[i], Kind: session.User}); err != nil {
				return nil, err
			}
			st, err := trees[i].At(id)
			if err != nil {
				return nil, err
			}
			d := e.Decide(ctx, st, readcache.Request{Path: path})
			took[i] = append(took[i], time.Since(start))
			if d.Reason != readcache.ReasonClaim {
				return nil, fmt.Errorf("decision: reason %s, want a claim", d.Reason)
			}
		}
	}
	small, large := at(.5, took[0]), at(.5, took[1])
	ratio := float64(large) / float64(small)
	return []figure{
		{"one decision, unchanged file of 300 lines, session of 10 000 entries, median", ms(large), "≤ 0.3 ms", large <= 300*time.Microsecond},
		{"the same against 100 entries", fmt.Sprintf("%.2f×", ratio), "≤ 1.5×", ratio <= 1.5},
	}, nil
}

// replay measures the cold replay of 100 000 entries as it happens after a restart: from the start of
// the engine's process, over the protocol, to the answer about the state at the leaf.
func replay(ctx context.Context, engine string) ([]figure, error) {
	f, err := pi.Decode(bytes.NewReader(sessionFile(100_000)))
	if err != nil {
		return nil, err
	}
	script, size := replayMessages(f)
	best, memory := time.Duration(1<<62), int64(0)
	for range 7 {
		took, peak, err := replayOnce(ctx, engine, script)
		if err != nil {
			return nil, err
		}
		best, memory = min(best, took), max(memory, peak)
	}
	return []figure{
		{fmt.Sprintf("cold replay of 100 000 entries (%d MB of messages), process start included, best of 7", size>>20), ms(best), "≤ 300 ms", best <= 300*time.Millisecond},
		{"peak memory of that process", fmt.Sprintf("%d MB", memory>>20), "≤ 200 MB", memory <= 200<<20},
	}, nil
}

// replayMessages is what the extension sends first: the session, its entries in batches, and here a
// question about the state.
func replayMessages(f *pi.File) (script []byte, size int) {
	var msgs bytes.Buffer
	put := func(id int, method string, params any) {
		raw, _ := json.Marshal(params) // our own types
		fmt.Fprintf(&msgs, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, raw)
	}
	put(1, pi.MethodOpen, pi.OpenParams{Session: "s", Cwd: "/p", Home: "/h", Host: pi.Host{FinalNewline: "terminator"}})
	for rest := f.Entries; len(rest) > 0; rest = rest[min(2000, len(rest)):] {
		put(2, pi.MethodEntries, pi.EntriesParams{Session: "s", Entries: rest[:min(2000, len(rest))]})
	}
	put(3, pi.MethodRead, map[string]string{"session": "s", "leaf": f.Leaf, "path": "/p/none"})
	return msgs.Bytes(), msgs.Len()
}

func replayOnce(ctx context.Context, engine string, script []byte) (took time.Duration, peak int64, err error) {
	cmd := exec.CommandContext(ctx, engine, "pi")
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w; run make build first", engine, err)
	}
	go func() { _, _ = in.Write(script) }() // a broken pipe shows as a missing answer
	answered := false
	for lines := bufio.NewScanner(out); !answered && lines.Scan(); {
		if bytes.Contains(lines.Bytes(), []byte(`"id":3,`)) {
			took = time.Since(start)
			if answered = bytes.Contains(lines.Bytes(), []byte(`"not_found"`)); !answered {
				break
			}
		}
	}
	peak = peakMemory(cmd.Process.Pid)
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		return 0, 0, err
	}
	if !answered {
		return 0, 0, fmt.Errorf("replay: the engine did not answer the read at the leaf")
	}
	return took, peak, nil
}

// sessionFile is a session as pi writes it: a user message, a call, a result, over 300 files.
func sessionFile(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, `{"type":"session","version":3,"id":"bench","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}`)
	text := lines(20)
	digest := readcache.Digest(text)
	raw, _ := json.Marshal(text)
	for i := range n {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"%08x"`, i-1)
		}
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":`, i, parent)
		switch i % 3 {
		case 0:
			b.WriteString(`{"role":"user","content":"go on","timestamp":1}`)
		case 1:
			fmt.Fprintf(&b, `{"role":"assistant","content":[{"type":"toolCall","id":"c%d","name":"read","arguments":{"path":"f%d.go"}}],"stopReason":"toolUse","timestamp":1}`, i, i%300)
		case 2:
			fmt.Fprintf(&b, `{"role":"toolResult","toolCallId":"c%d","toolName":"read","content":[{"type":"text","text":%s}],"isError":false,"timestamp":1,`, i-1, raw)
			fmt.Fprintf(&b, `"details":{"readcache":{"v":1,"pathKey":"/p/f%d.go","scopeKey":"full","servedHash":%q,"mode":"full","totalLines":21,"rangeStart":1,"rangeEnd":21,"bytes":%d,"digest":%q}}}`, (i-1)%300, digest, len(text), digest[:32])
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// diff compares with git: 12 000 lines, every hundredth changed.
func diff(ctx context.Context, _ string) ([]figure, error) {
	base := lines(12_000)
	all := strings.Split(base, "\n")
	for i := 50; i < len(all); i += 100 {
		all[i] += " // changed"
	}
	current := strings.Join(all, "\n")
	var took []time.Duration
	var d linediff.Diff
	for range 200 {
		start := time.Now()
		var err error
		if d, err = linediff.Unified(ctx, "a.go", []byte(base), []byte(current)); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	ours := changedLines(d.Text)
	theirs, git, err := gitDiff(ctx, base, current)
	if err != nil {
		return nil, err
	}
	more := 100 * (float64(ours)/float64(theirs) - 1)
	return []figure{
		{"diff of 12 000 lines, 1 % changed, median", ms(at(.5, took)), "≤ 3 ms", at(.5, took) <= 3*time.Millisecond},
		{fmt.Sprintf("its size: %d changed lines, git's has %d", ours, theirs), fmt.Sprintf("%+.1f %%", more), "≤ +5 %", more <= 5},
		{"for comparison: the process git diff --no-index, median", ms(git), "", true},
	}, nil
}

func changedLines(diff string) int {
	n := 0
	for line := range strings.SplitSeq(diff, "\n") {
		if (strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-")) && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			n++
		}
	}
	return n
}

func gitDiff(ctx context.Context, base, current string) (int, time.Duration, error) {
	dir, err := os.MkdirTemp("", "deja-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"a": base, "b": current} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return 0, 0, err
		}
	}
	var took []time.Duration
	var out []byte
	for range 20 {
		cmd := exec.CommandContext(ctx, "git", "diff", "--no-index", "a", "b")
		cmd.Dir = dir
		start := time.Now()
		out, _ = cmd.Output() // its exit status is 1 when there are differences
		took = append(took, time.Since(start))
	}
	if len(out) == 0 {
		return 0, 0, fmt.Errorf("git diff printed nothing; is git installed?")
	}
	return changedLines(string(out)), at(.5, took), nil
}

// startUp measures from the start of the process to its first answer.
func startUp(ctx context.Context, engine string) ([]figure, error) {
	var took []time.Duration
	for range 50 {
		cmd := exec.CommandContext(ctx, engine, "pi")
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		start := time.Now()
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("%s: %w; run make build first", engine, err)
		}
		if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
			return nil, err
		}
		r := bufio.NewReader(out)
		for range 2 { // ready, and the answer
			if _, err := r.ReadBytes('\n'); err != nil {
				return nil, err
			}
		}
		took = append(took, time.Since(start))
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			return nil, err
		}
	}
	m := at(.5, took)
	return []figure{{"start of deja pi to its first answer, median", ms(m), "≤ 10 ms", m <= 10*time.Millisecond}}, nil
}
