// Fakeengine is an engine that fails, for tests of what pi does then. It is started in place of
// deja. FAKE_DIR is a folder in which the test leaves orders; FAKE_DIR/mode says how to fail:
//
//	die        ends at once
//	hang       says nothing
//	deaf       says that it is ready, then nothing
//	nonsense   writes what is not JSON
//	protocol   says that it is ready, in a protocol of the future
//	endless    is ready, then writes a line that does not end
//	errors     answers every request with an error
//	shapes     answers open, and reads with the result in FAKE_DIR/shape
//	exec       becomes the real engine, FAKE_REAL; its process id is in FAKE_DIR/pid
//	proxy      runs the real engine and passes everything on; while FAKE_DIR/hold exists the answer
//	           to a read waits; if there is FAKE_DIR/swap, it replaces the file named in
//	           FAKE_DIR/target before that answer is passed on
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	raw, err := os.ReadFile(order("mode"))
	check(err)
	switch mode := string(raw); mode {
	case "die":
		os.Exit(3)
	case "hang":
		discard(in)
	case "deaf":
		ready(1)
		discard(in)
	case "nonsense":
		fmt.Println("Welcome to deja! Type help for help.")
		discard(in)
	case "protocol":
		ready(99)
		discard(in)
	case "endless":
		ready(1)
		endless()
	case "errors", "shapes":
		ready(1)
		answer(in, mode)
	case "exec":
		check(os.WriteFile(order("pid"), []byte(strconv.Itoa(os.Getpid())), 0o600))
		real := os.Getenv("FAKE_REAL")
		check(syscall.Exec(real, append([]string{real}, os.Args[1:]...), os.Environ()))
	case "proxy":
		check(os.WriteFile(order("pid"), []byte(strconv.Itoa(os.Getpid())), 0o600))
		proxy()
	default:
		check(fmt.Errorf("no mode %q", mode))
	}
}

func order(name string) string { return filepath.Join(os.Getenv("FAKE_DIR"), name) }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeengine:", err)
		os.Exit(1)
	}
}

func ready(protocol int) {
	fmt.Printf(`{"jsonrpc":"2.0","method":"ready","params":{"protocol":%d,"version":"fake","methods":["open","read"],"maxMessage":67108864}}`+"\n", protocol)
}

// discard waits for the end of the input, as a hanging program that is still told to leave.
func discard(in io.Reader) { _, _ = io.Copy(io.Discard, in) }

func endless() {
	chunk := []byte(strings.Repeat("x", 1<<16))
	for {
		if _, err := os.Stdout.Write(chunk); err != nil {
			return
		}
	}
}

func answer(in *bufio.Reader, mode string) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		check(json.Unmarshal(line, &m))
		switch {
		case m.ID == nil:
		case mode == "errors":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`+"\n", m.ID)
		case m.Method == "read":
			shape, err := os.ReadFile(order("shape"))
			check(err)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, shape)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"enabled":true}}`+"\n", m.ID)
		}
	}
}

func proxy() {
	c := exec.Command(os.Getenv("FAKE_REAL"), os.Args[1:]...)
	c.Stdin, c.Stderr = os.Stdin, os.Stderr
	out, err := c.StdoutPipe()
	check(err)
	check(c.Start())
	for in := bufio.NewReaderSize(out, 1<<20); ; {
		line, err := in.ReadBytes('\n')
		if strings.Contains(string(line), `"reason":`) {
			beforeAnswer()
		}
		_, _ = os.Stdout.Write(line)
		if err != nil {
			break
		}
	}
	check(c.Wait())
}

// beforeAnswer carries out the orders that are there when the real engine has answered a read.
func beforeAnswer() {
	for i := 0; exists("hold") && i < 3000; i++ {
		if i == 0 {
			check(os.WriteFile(order("held"), nil, 0o600))
		}
		time.Sleep(10 * time.Millisecond)
	}
	if exists("swap") {
		target, err := os.ReadFile(order("target"))
		check(err)
		check(os.Rename(order("swap"), string(target)))
	}
}

func exists(name string) bool {
	_, err := os.Stat(order(name))
	return err == nil
}
