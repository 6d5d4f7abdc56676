// A client of kv for Assay: docs/formats/client-protocol.md. Build it with `go build kv.go`.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

type object = map[string]any
type message struct { // what Assay says: init and invoke; values stay raw, no number changes on its way
	Node, Op                 string
	Nodes                    map[string]string
	Options                  struct{ Prefix string }
	Id, Timeout_ms, Protocol int64
	Key, Input, Request_id   json.RawMessage
}

// perform does one operation and returns its outcome. To try your own system, change it.
func perform(address, name string, call message) (outcome object) {
	defer func() { outcome["id"] = call.Id }()
	body, _ := json.Marshal(object{"op": name, "key": call.Key, "input": call.Input, "id": call.Request_id})
	deadline := time.Now().Add(time.Duration(call.Timeout_ms) * time.Millisecond)
	// A new connection for each operation: what fails before it is there was not sent, what fails after it may have been.
	connection, err := net.DialTimeout("tcp", address, time.Until(deadline))
	if err != nil {
		return object{"type": "fail", "error": "not sent: " + err.Error()}
	}
	defer connection.Close()
	connection.SetDeadline(deadline)
	fmt.Fprintf(connection, "POST /op HTTP/1.1\r\nHost: kv\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return object{"type": "info", "error": "no answer: " + err.Error()}
	}
	var answer struct{ Ok, Node, Index, Fail json.RawMessage }
	err = json.NewDecoder(response.Body).Decode(&answer)
	if status := response.StatusCode; status == 400 || status == 409 || status == 413 {
		return object{"type": "fail", "error": response.Status + " " + string(answer.Fail)}
	} else if err != nil || status != 200 || answer.Ok == nil {
		return object{"type": "info", "error": "no answer that settles it: " + response.Status}
	}
	return object{"type": "ok", "output": answer.Ok, "node": "n" + string(answer.Node), "revision": answer.Index}
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	init := message{Options: struct{ Prefix string }{"register."}}
	if in.Decode(&init) != nil || init.Protocol != 1 {
		panic("this adapter speaks version 1")
	}
	out.Encode(object{"type": "ready"})
	for call := (message{Node: init.Node}); in.Decode(&call) == nil; call.Node = init.Node {
		out.Encode(perform(init.Nodes[call.Node], init.Options.Prefix+call.Op, call))
	}
}
