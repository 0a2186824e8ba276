// Package readcache is the engine of the read cache: it decides how a read is answered, says what
// a stored result proves, and reports the state of a branch.
//
// It composes trust, session, textfile, linediff and object. It knows what the texts and the
// metadata look like; it does not know any host's protocol or session format. Whatever it
// cannot prove, it answers with the plain read and a Reason.
package readcache
