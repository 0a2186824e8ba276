package scripted_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"deja/conformance/scripted"

	"github.com/google/go-cmp/cmp"
)

const hello = `{"stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"read"}}]}`

func start(t *testing.T, cfg scripted.Config) *scripted.Server {
	t.Helper()
	s, err := scripted.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// reply is an answer put together from its chunks, as a client does it.
type reply struct {
	Status int
	Text   string
	Calls  []string // "id name arguments"
	Finish string
	Prompt int
	Done   bool
}

func post(ctx context.Context, s *scripted.Server, body string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	r := reply{Status: resp.StatusCode}
	if resp.StatusCode != 200 {
		b, err := io.ReadAll(resp.Body)
		r.Text = string(b)
		return r, err
	}
	sc := bufio.NewScanner(resp.Body)
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			r.Done = true
			continue
		}
		var c struct {
			Choices []struct {
				Delta struct {
					Content   string
					ToolCalls []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
			Usage struct {
				PromptTokens int `json:"prompt_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return r, err
		}
		r.Prompt += c.Usage.PromptTokens
		for _, ch := range c.Choices {
			r.Text += ch.Delta.Content
			r.Finish += ch.FinishReason
			for _, tc := range ch.Delta.ToolCalls {
				if tc.Index != len(r.Calls) {
					return r, fmt.Errorf("index %d of call %d", tc.Index, len(r.Calls))
				}
				r.Calls = append(r.Calls, tc.ID+" "+tc.Function.Name+" "+tc.Function.Arguments)
			}
		}
	}
	return r, sc.Err()
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		name string
		turn *scripted.Turn
		body string
		want reply
	}{
		{"empty queue", nil, hello, reply{Status: 200, Text: "done", Finish: "stop", Prompt: len(hello)/4 + 1, Done: true}},
		{"text", &scripted.Turn{Text: "a\nb", PromptTokens: 7}, hello, reply{Status: 200, Text: "a\nb", Finish: "stop", Prompt: 7, Done: true}},
		{
			"batch",
			&scripted.Turn{Text: "t", PromptTokens: 1, Calls: []scripted.Call{
				scripted.ReadRange("f", 2, 3), {Name: "x", ID: "mine"}, scripted.Edit("f", "a", "b"),
			}},
			hello,
			reply{Status: 200, Text: "t", Finish: "tool_calls", Prompt: 1, Done: true, Calls: []string{
				`p_1 read {"limit":3,"offset":2,"path":"f"}`, `mine x {}`,
				`p_2 edit {"edits":[{"newText":"b","oldText":"a"}],"path":"f"}`,
			}},
		},
		{"error", &scripted.Turn{Status: 429, Text: "slow down"}, hello, reply{Status: 429, Text: `{"error":{"message":"slow down","type":"scripted"}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, scripted.Config{IDPrefix: "p"})
			if tt.turn != nil {
				if _, err := s.Queue(*tt.turn); err != nil {
					t.Fatal(err)
				}
			}
			got, err := post(t.Context(), s, tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
			rec := s.Since(0)
			if len(rec) != 1 || string(rec[0].Raw) != tt.body || rec[0].Unscripted != (tt.turn == nil) {
				t.Errorf("records: %+v", rec)
			}
		})
	}
}

func TestRequestParts(t *testing.T) {
	s := start(t, scripted.Config{})
	body := `{"messages":[
		{"role":"system","content":"sys"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{}},{"type":"text","text":"two"}]},
		{"role":"tool","tool_call_id":"c1","content":"later"}],"tools":[{"function":{"name":"read"}}]}`
	if _, err := post(t.Context(), s, body); err != nil {
		t.Fatal(err)
	}
	r := s.Since(0)[0]
	want := []scripted.Message{
		{Role: "system", Text: "sys"},
		{Role: "assistant", ToolCalls: []scripted.ToolCall{{ID: "c1", Name: "read", Arguments: "{}"}}},
		{Role: "tool", ToolCallID: "c1", Text: "onetwo"},
		{Role: "tool", ToolCallID: "c1", Text: "later"},
	}
	if diff := cmp.Diff(want, r.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got, ok := r.ToolText("c1"); got != "later" || !ok {
		t.Errorf("ToolText = %q, %v", got, ok)
	}
	if _, ok := r.ToolText("c2"); ok {
		t.Error("ToolText finds a call that is not there")
	}
	if !r.Contains("onetwo") || r.Contains("three") {
		t.Error("Contains is wrong")
	}
}

// A summary is answered outside the queue, and only a summary is.
func TestSummary(t *testing.T) {
	const sys = `{"role":"system","content":"You are a context summarization assistant."}`
	tests := []struct {
		name, body string
		want       bool
	}{
		{"summary", `{"messages":[` + sys + `,{"role":"user","content":"x"}]}`, true},
		{"no tools", `{"messages":[{"role":"system","content":"code"},{"role":"user","content":"x"}]}`, false},
		{"said by the user", `{"messages":[{"role":"user","content":"are you a summarization assistant?"}]}`, false},
		{"with tools", `{"messages":[` + sys + `],"tools":[{"function":{"name":"read"}}]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, scripted.Config{Summary: "short"})
			if _, err := s.Queue(scripted.Say("turn")); err != nil {
				t.Fatal(err)
			}
			r, err := post(t.Context(), s, tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Text == "short"; got != tt.want || s.Since(0)[0].Summary != tt.want {
				t.Errorf("answer %q, Summary %v; want %v", r.Text, s.Since(0)[0].Summary, tt.want)
			}
			if left := len(s.Drain()); (left == 1) != tt.want {
				t.Errorf("%d turns left", left)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"not JSON", "{", "request body"},
		{"odd content", `{"messages":[{"role":"user","content":{}}]}`, "message 0"},
		{"too long", `{"messages":[],"x":"` + strings.Repeat("x", 300) + `"}`, "too large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, scripted.Config{MaxBody: 200})
			r, err := post(t.Context(), s, tt.body)
			if err != nil || r.Status != 400 {
				t.Errorf("reply %+v, %v", r, err)
			}
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), tt.want) || s.Count() != 0 {
				t.Errorf("Err = %v, %d records", err, s.Count())
			}
		})
	}
	s := start(t, scripted.Config{MaxRequests: 1})
	for range 2 {
		if _, err := post(t.Context(), s, hello); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Err(); err == nil || s.Count() != 1 {
		t.Errorf("too many: Err = %v, %d records", err, s.Count())
	}
	if _, err := s.Queue(scripted.Do(scripted.Call{Args: map[string]any{"f": func() {}}})); err == nil {
		t.Error("arguments that are no JSON are accepted")
	}
}

func TestHangAndDelay(t *testing.T) {
	s := start(t, scripted.Config{})
	if _, err := s.Queue(scripted.Turn{Text: "late", Delay: 50 * time.Millisecond}, scripted.Turn{Hang: true}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if r, err := post(t.Context(), s, hello); err != nil || r.Text != "late" || time.Since(began) < 50*time.Millisecond {
		t.Errorf("delay: %+v, %v after %v", r, err, time.Since(began))
	}
	ended := make(chan bool, 1)
	go func() {
		r, err := post(context.Background(), s, hello)
		ended <- err == nil && r.Done
	}()
	if err := s.Wait(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		t.Fatal("the hanging answer ended")
	case <-time.After(30 * time.Millisecond):
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if <-ended {
		t.Error("the hanging answer ended as a whole one")
	}
	if err := s.Wait(t.Context(), 3); err == nil {
		t.Error("Wait on a closed server returns no error")
	}
}

func TestConcurrent(t *testing.T) {
	s := start(t, scripted.Config{})
	const n = 40
	for i := range n {
		if _, err := s.Queue(scripted.Say(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[string]int{}
	for range n {
		wg.Go(func() {
			r, err := post(t.Context(), s, hello)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[r.Text]++
		})
	}
	wg.Wait()
	if len(seen) != n || s.Count() != n || len(s.Drain()) != 0 {
		t.Errorf("%d different answers, %d records", len(seen), s.Count())
	}
	for i, r := range s.Since(0) {
		if r.Index != i {
			t.Errorf("record %d has index %d", i, r.Index)
		}
	}
}
