// Connects as its arguments say, and prints what it saw as JSON: URL, Cookie, Origin ("" for none).
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/coder/websocket"
)

func main() {
	url, cookie, origin := os.Args[1], os.Args[2], os.Args[3]
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	header := http.Header{}
	if cookie != "" {
		header.Set("Cookie", cookie)
	}
	if origin != "" {
		header.Set("Origin", origin)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	socket, res, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header, Subprotocols: []string{"chat"}})
	if err != nil {
		if res == nil {
			panic(err)
		}
		body, _ := io.ReadAll(res.Body)
		print(map[string]any{"status": res.StatusCode, "body": string(body)})
		return
	}
	socket.SetReadLimit(1 << 20)
	bytes := make([]byte, 256000)
	check(socket.Write(ctx, websocket.MessageText, []byte("hi")))
	_, text, err := socket.Read(ctx)
	check(err)
	check(socket.Write(ctx, websocket.MessageBinary, bytes))
	_, echo, err := socket.Read(ctx)
	check(err)
	go func() { check(socket.Ping(ctx)); check(socket.Write(ctx, websocket.MessageText, []byte("bye"))) }()
	_, _, err = socket.Read(ctx)
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		panic(err)
	}
	print(map[string]any{"text": string(text), "size": len(echo), "protocol": socket.Subprotocol(), "code": closed.Code, "reason": closed.Reason})
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func print(seen map[string]any) {
	check(json.NewEncoder(os.Stdout).Encode(seen))
}
