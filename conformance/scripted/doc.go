// Package scripted is a model that says what a script tells it to say.
//
// A [Server] listens on a loopback port and speaks the OpenAI
// chat/completions protocol with server-sent events, the way an agent host
// speaks to a provider. Answers come from a queue of [Turn] values; every
// request body is recorded. The recorded bodies are the ground truth of what a
// model would have seen: an oracle checks them, not the host's own events.
//
// The package knows the wire format and nothing of any host, of tools beyond
// their names, or of deja. It keeps no global state and does not import
// testing, so a demo program can use it as well as a test.
package scripted
