//go:build unix && !linux

package object

import "errors"

func mountSmall(string, int) error { return errors.New("only known for Linux") }
