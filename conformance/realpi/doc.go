// Package realpi drives an installed pi, the real program, with a scripted
// model: it starts pi in RPC mode in a scratch home, sends prompts, and returns
// what the model received.
//
// What a test may believe: the recorded request bodies ([Result.Requests],
// [Result.Received]) are what the model saw; the session file ([Pi.Session]) is
// what pi will replay. Events of the RPC stream are used for timing, for error
// flags and for diagnostics only.
//
// The package knows two lines of pi, its RPC protocol, and the file layout of
// its home. It knows nothing of deja: an extension is a path in [Options].
// Nothing here imports testing; see the package pitest for that.
package realpi
