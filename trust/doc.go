// Package trust is the state machine that says which lines of which version of a file
// the model provably has (spec 4).
//
// It knows versions (content hashes), scopes (line ranges), the order of deliveries, and the
// rules by which one delivery vouches for the next. It does not know files, sessions, messages,
// clocks or storage: events in, answers out. A State is a value; every step returns a new one
// that shares structure with the old, so a state per session entry costs only what changed.
package trust
