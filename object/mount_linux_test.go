package object

import (
	"fmt"
	"syscall"
)

func mountSmall(dir string, size int) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
}
