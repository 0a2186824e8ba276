package pi

import (
	"encoding/json"
	"strconv"
)

// maxArgument is the largest offset or limit that is looked at; it is far beyond any file that is
// read. The host deals with the rest.
const maxArgument = 1 << 31

// argument reads an offset or limit as the model sent it. odd says that it is there but is no
// whole number from 1 to maxArgument.
func argument(raw json.RawMessage) (n *int, odd bool) {
	if isNull(raw) {
		return nil, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v != float64(int64(v)) || v < 1 || v > maxArgument {
		return nil, true
	}
	i := int(v)
	return &i, false
}

func rawNumber(n *int) json.RawMessage {
	if n == nil {
		return nil
	}
	return strconv.AppendInt(nil, int64(*n), 10)
}
