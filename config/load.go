package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// maxFile is the largest settings file that is read. A real one has a few
// hundred bytes.
const maxFile = 1 << 20

// maxDepth is how deep values may be nested. The settings need 2; the parser is
// recursive, and a megabyte of brackets would cost it half a gigabyte of stack.
const maxDepth = 64

// maxProblems is how many problems of one file are reported in full; finding
// their places costs time, and nobody reads more.
const maxProblems = 100

// A loader applies files one after the other to cfg.
type loader struct {
	cfg      Config
	table    []setting // of cfg
	problems []Problem

	patterns []string // of "exclude", from all files
	// unsafe: some exclusions could not be understood, so the defaults stay.
	unsafe bool
	// dropDefaults is the user's "excludeDefaults": false, if there is one.
	dropDefaults *Problem
}

func newLoader() *loader {
	l := &loader{cfg: Default()}
	l.table = l.cfg.settings()
	return l
}

// A document is one settings file while it is applied.
type document struct {
	*loader
	name string
	user bool
	text []byte
	// reported and more count the problems within and beyond maxProblems.
	reported, more int
}

// file reads and applies one settings file.
func (l *loader) file(name string, user bool) {
	text, err := read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		d := document{loader: l, name: name, user: user}
		d.failed(0, err.Error())
		return
	}
	l.apply(name, user, text)
}

// read returns the file's content. fs.ErrNotExist means that there is none.
func read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		if _, e := os.Lstat(name); e == nil && errors.Is(err, fs.ErrNotExist) {
			return nil, errors.New("is a link to a file that does not exist")
		}
		return nil, reason(err)
	}
	// Asked before opening: a pipe would block.
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("is larger than %d bytes", maxFile)
	}
	return text, nil
}

// reason drops the path from an error of package os: a Problem names the file.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot be read: %w", pe.Err)
	}
	return err
}

// apply parses the text of a file and applies what is good in it.
func (l *loader) apply(name string, user bool, text []byte) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	d := document{loader: l, name: name, user: user, text: text}
	if at := invalidUTF8(text); at >= 0 {
		d.failed(at, "is not valid UTF-8")
		return
	}
	if at := tooDeep(text); at >= 0 {
		d.failed(at, fmt.Sprintf("is nested more than %d deep", maxDepth))
		return
	}
	// The parser wants a newline after a comment on the last line.
	root, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		at, what := d.syntaxError(err)
		d.failed(at, "is not valid JSON: "+what)
		return
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		d.failed(root.StartOffset, `must hold a JSON object, { … }`)
		return
	}
	d.object("", object)
	if d.more > 0 {
		line, column := position(text, len(text))
		d.problems = append(d.problems, Problem{name, line, column, "", fmt.Sprintf("the file has %d more problems", d.more)})
	}
}

// failed reports that nothing of the file is in force.
func (d *document) failed(offset int, what string) {
	d.unsafe = true
	rest := "the settings without it are in force"
	if d.user {
		rest = "the default settings are in force"
	}
	d.report(offset, "", "the file "+what+"; "+rest)
}

// full counts a problem that is not reported any more. Since nobody looks at it,
// it is taken for the worst.
func (d *document) full() bool {
	if d.reported < maxProblems {
		return false
	}
	d.more++
	d.unsafe = true
	return true
}

func (d *document) report(offset int, key, message string) {
	if d.full() {
		return
	}
	d.reported++
	line, column := position(d.text, min(offset, len(d.text)))
	d.problems = append(d.problems, Problem{d.name, line, column, key, message})
}

// syntaxError takes hujson's error text apart; the error has no fields.
func (d *document) syntaxError(err error) (offset int, what string) {
	what = strings.TrimPrefix(err.Error(), "hujson: ")
	var line, column int
	if n, _ := fmt.Sscanf(what, "line %d, column %d:", &line, &column); n != 2 {
		return 0, clip(what)
	}
	_, what, _ = strings.Cut(what, ": ")
	for ; line > 1; line-- {
		n := bytes.IndexByte(d.text[offset:], '\n')
		if n < 0 { // past the newline that apply has added
			return len(d.text), clip(what)
		}
		offset += n + 1
	}
	return min(offset+column-1, len(d.text)), clip(what)
}

// object applies the members of the object at prefix ("" or a section such as
// "diff").
func (d *document) object(prefix string, object *hujson.Object) {
	last := map[string]int{}
	for i, m := range object.Members {
		last[nameOf(m)] = i
	}
	for i, m := range object.Members {
		key := join(prefix, nameOf(m))
		if j := last[nameOf(m)]; j != i {
			d.repeated(key, m, object.Members[j])
			if key != "exclude" {
				continue
			}
		}
		if section, name, dotted := strings.Cut(nameOf(m), "."); dotted && slices.Contains(keys(), key) {
			d.report(m.Name.StartOffset, key, fmt.Sprintf("is not a setting; write it as %q inside %q: { … }. It is ignored", name, section))
			continue
		}
		d.member(key, m)
	}
}

// repeated reports a member that is given again. Repeated lists of exclusions
// add up, as those of two files do.
func (d *document) repeated(key string, m, last hujson.ObjectMember) {
	if d.full() {
		return
	}
	line, _ := position(d.text, last.Name.StartOffset)
	rule := "that one counts"
	if key == "exclude" {
		rule = "all the lists together are in force"
	}
	d.report(m.Name.StartOffset, clip(key), fmt.Sprintf("is given again on line %d; %s", line, rule))
}

// member applies one setting.
func (d *document) member(key string, m hujson.ObjectMember) {
	switch {
	case key == "$schema": // for editors
	case key == "exclude":
		d.exclude(m.Value)
	case key == "excludeDefaults":
		d.excludeDefaults(m.Value)
	case key == "diff" || key == "store":
		section, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			d.report(m.Value.StartOffset, key, d.wrong(m.Value, "an object, { … }", "its settings stay as they are"))
			return
		}
		d.object(key, section)
	default:
		for _, s := range d.table {
			if s.key != key {
				continue
			}
			if inForce := s.String(); !s.set(m.Value.Value) {
				d.report(m.Value.StartOffset, key, d.wrong(m.Value, s.accepts, inForce+" is in force"))
			}
			return
		}
		if d.full() {
			return
		}
		message := "is not a setting; it is ignored"
		if guess := closest(key); guess != "" {
			message = fmt.Sprintf("is not a setting; did you mean %q? It is ignored", guess)
			d.unsafe = d.unsafe || guess == "exclude"
		}
		d.report(m.Name.StartOffset, clip(key), message)
	}
}

// wrong says what value is not, what is accepted, and what holds instead.
func (d *document) wrong(v hujson.Value, accepts, instead string) string {
	return fmt.Sprintf("%s is not accepted; it must be %s; %s", d.show(v), accepts, instead)
}

// show is the value as it is written in the file.
func (d *document) show(v hujson.Value) string {
	return clip(string(d.text[v.StartOffset:v.EndOffset]))
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}
