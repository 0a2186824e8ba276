// Package pi connects deja to the pi coding agent: the messages that pi's extension and the
// engine exchange over standard input and output (docs/protocol.md), and pi's session files.
//
// It turns pi's entries into the entries of package session and requests into calls of package
// readcache. It decides nothing about reads.
package pi
