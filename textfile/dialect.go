package textfile

// A FinalNewline says what the newline at the very end of a text is when pi
// counts lines to cut them. It does not change Snapshot.Total, nor the "of N" of
// a notice: those count a last empty line in every version.
type FinalNewline int

const (
	// Separator counts the empty line after a final newline (pi 0.73): 2000
	// lines that all end in a newline are 2001 lines, and are cut.
	Separator FinalNewline = iota
	// Terminator does not count it (pi 0.87), and drops it when it cuts.
	Terminator
)

// Limits of pi's built-in read, the same in all versions seen.
const (
	DefaultMaxLines = 2000
	DefaultMaxBytes = 50 * 1024
)

// A Dialect is what differs between the versions of pi in how read finds a file
// and cuts its text. The zero value is pi 0.73 with the default limits.
//
// Both versions strip one leading "@" and turn Unicode spaces into plain ones.
// They do it in opposite orders, which cannot be seen: "@" is no space and a
// space does not become "@".
type Dialect struct {
	// MaxLines is the most lines of one answer. 0 or less is DefaultMaxLines.
	MaxLines int
	// MaxBytes is the most UTF-8 bytes of one answer, without the notice. 0 or
	// less is DefaultMaxBytes.
	MaxBytes int
	// FinalNewline is how the line limit counts a final newline.
	FinalNewline FinalNewline
	// CleanPaths says that absolute paths are normalised lexically ("/a/../b" is
	// "/b", whatever /a is); otherwise they are opened as they are written.
	CleanPaths bool
	// FileURLs says that "file://" URLs are accepted as paths.
	FileURLs bool
}

// The two lines of pi that deja knows. They are values to copy, not to change.
var (
	// Pi073 is @mariozechner/pi-coding-agent 0.73.
	Pi073 = Dialect{MaxLines: DefaultMaxLines, MaxBytes: DefaultMaxBytes, FinalNewline: Separator}
	// Pi087 is @earendil-works/pi-coding-agent 0.87.
	Pi087 = Dialect{
		MaxLines: DefaultMaxLines, MaxBytes: DefaultMaxBytes, FinalNewline: Terminator,
		CleanPaths: true, FileURLs: true,
	}
)

func (d Dialect) maxLines() int {
	if d.MaxLines <= 0 {
		return DefaultMaxLines
	}
	return d.MaxLines
}

func (d Dialect) maxBytes() int {
	if d.MaxBytes <= 0 {
		return DefaultMaxBytes
	}
	return d.MaxBytes
}
