package realpi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deja/conformance/scripted"
)

// A Result is what happened in one agent run.
type Result struct {
	// Requests are the requests of the run, summaries among them, in order.
	Requests []scripted.Request
	// Calls are the scripted calls in order, ids filled in.
	Calls []scripted.Call
	// Events are the RPC events of the run without message_update.
	Events []Event
	// Unused are scripted turns that pi did not ask for.
	Unused []scripted.Turn
	// Elapsed is the time from the prompt until pi was at rest.
	Elapsed time.Duration
}

// Received is the text of a call's result in the first request that carries
// it: what the model received. False means no request of the run carried it.
func (r Result) Received(callID string) (string, bool) {
	for _, req := range r.Requests {
		if text, ok := req.ToolText(callID); ok && !req.Summary {
			return text, true
		}
	}
	return "", false
}

// IsError is pi's error flag on a call's result; found is false when pi
// reported no result for it.
func (r Result) IsError(callID string) (isError, found bool) {
	for _, e := range r.Events {
		if e.Type != "message_end" {
			continue
		}
		var m struct {
			Message wireMessage `json:"message"`
		}
		if json.Unmarshal(e.Raw, &m) == nil && m.Message.Role == "toolResult" && m.Message.ToolCallID == callID {
			return m.Message.IsError, true
		}
	}
	return false, false
}

// Last is the last request of the run that is not for a summary.
func (r Result) Last() (scripted.Request, bool) {
	for i := len(r.Requests) - 1; i >= 0; i-- {
		if !r.Requests[i].Summary {
			return r.Requests[i], true
		}
	}
	return scripted.Request{}, false
}

// A Running is an agent run that has been started.
type Running struct {
	p           *Pi
	calls       []scripted.Call
	first, mark int
	began       time.Time
}

// Prompt queues turns, sends a prompt and returns once pi has accepted it. When
// the queue is empty the model answers "done", so a script that ends in tool
// calls needs no closing turn.
func (p *Pi) Prompt(ctx context.Context, prompt string, turns ...scripted.Turn) (*Running, error) {
	m := p.Model()
	turns, err := m.Queue(turns...)
	if err != nil {
		return nil, err
	}
	r := &Running{p: p, first: m.Count(), mark: p.stream.mark(), began: time.Now()}
	for _, t := range turns {
		r.calls = append(r.calls, t.Calls...)
	}
	p.stream.expect(true)
	if _, err := p.Send(ctx, "prompt", map[string]any{"message": prompt}); err != nil {
		p.stream.expect(false)
		m.Drain()
		return nil, err
	}
	return r, nil
}

// Calls are the scripted calls in order, ids filled in.
func (r *Running) Calls() []scripted.Call { return r.calls }

// Requested waits until the model has got n requests of this run. With a turn
// that hangs it is the moment to abort or to kill.
func (r *Running) Requested(ctx context.Context, n int) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return r.p.explain("waiting for a request", r.p.Model().Wait(ctx, r.first+n))
}

// Wait waits until pi is at rest and gathers the result. Scripted turns left
// over are removed from the queue.
func (r *Running) Wait(ctx context.Context) (Result, error) {
	err := r.p.Idle(ctx)
	m := r.p.Model()
	res := Result{
		Requests: m.Since(r.first), Calls: r.calls, Events: r.p.stream.since(r.mark),
		Unused: m.Drain(), Elapsed: time.Since(r.began),
	}
	if err == nil {
		err = m.Err()
	}
	return res, err
}

// Run is Prompt and Wait. Scripted turns that were not asked for are an error.
func (p *Pi) Run(ctx context.Context, prompt string, turns ...scripted.Turn) (Result, error) {
	r, err := p.Prompt(ctx, prompt, turns...)
	if err != nil {
		return Result{}, err
	}
	res, err := r.Wait(ctx)
	if err == nil && len(res.Unused) > 0 {
		err = p.explain("run", fmt.Errorf("%d of %d scripted turns were not asked for", len(res.Unused), len(turns)))
	}
	return res, err
}

// Idle waits until pi has really settled: no run, no compaction, no retry and
// no continuation left.
//
// 0.87 says so itself (agent_settled). 0.73 does not: after agent_end it may
// compact and go on. It announces a compaction in the same event loop turn as
// agent_end, so the answer to a get_state sent after agent_end comes behind
// that announcement; and after a compaction it continues queued messages with
// a delay of 100 ms.
func (p *Pi) Idle(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for {
		before, err := p.stream.quiet(ctx)
		if err != nil {
			return p.explain("waiting for rest", err)
		}
		st, err := p.State(ctx)
		if err != nil {
			return err
		}
		pause := 5 * time.Millisecond
		if !st.IsStreaming && !st.IsCompacting {
			if st.PendingMessageCount == 0 {
				pause = 0
			} else {
				pause = 200 * time.Millisecond
			}
		}
		time.Sleep(pause)
		after, err := p.stream.quiet(ctx)
		if err != nil {
			return p.explain("waiting for rest", err)
		}
		if before == after && !st.IsStreaming && !st.IsCompacting {
			return nil
		}
	}
}

// Read is one prompt in which the model reads a file once; offset and limit may
// follow the path. The result is the text the model received.
func (p *Pi) Read(ctx context.Context, path string, offsetLimit ...int) (string, error) {
	texts, err := p.ReadBatch(ctx, readCall(path, offsetLimit))
	if err != nil {
		return "", err
	}
	return texts[0], nil
}

// ReadBatch is one prompt in which the model makes several calls in one turn;
// the results are the texts the model received, in the order of the calls.
func (p *Pi) ReadBatch(ctx context.Context, calls ...scripted.Call) ([]string, error) {
	if len(calls) == 0 {
		return nil, errors.New("realpi: no calls")
	}
	res, err := p.Run(ctx, "please read "+fmt.Sprint(calls[0].Args["path"]), scripted.Do(calls...))
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, c := range res.Calls {
		text, ok := res.Received(c.ID)
		if !ok {
			return nil, p.explain("read", fmt.Errorf("the model never received the result of %s %v", c.ID, c.Args))
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// readCall is the call of Read.
func readCall(path string, offsetLimit []int) scripted.Call {
	var o [2]int
	copy(o[:], offsetLimit)
	return scripted.ReadRange(path, o[0], o[1])
}
