// As upload.py: upload FILE SIZES ORIGIN PATH...
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// At first it waits before every tenth write, longer than the server's reader takes for what came before. A write of net/http
// is a size with the first data, the rest of the data, or a line break: behind a pause that comes in a read of its own.
type slowConn struct {
	net.Conn
	writes int
}

func (conn *slowConn) Write(bytes []byte) (int, error) {
	conn.writes++
	if conn.writes <= 300 && conn.writes%10 == 0 {
		time.Sleep(30 * time.Millisecond)
	}
	return conn.Conn.Write(bytes)
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return &slowConn{Conn: conn}, err
}

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var sizes []int
	for _, text := range strings.Split(os.Args[2], ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		sizes = append(sizes, size)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial}}
	origin := os.Args[3]
	for _, path := range os.Args[4:] {
		reader, writer := io.Pipe()
		go func() {
			writer.CloseWithError(write(writer, data, sizes))
		}()
		response, err := client.Post(origin+path, "text/plain", reader)
		report(path, response, err)
		response, err = client.Get(origin + "/next")
		report("/next", response, err)
	}
}

func write(writer io.Writer, data []byte, sizes []int) error {
	for i := 0; len(data) > 0; i++ {
		size := sizes[i%len(sizes)]
		if size > len(data) {
			size = len(data)
		}
		if _, err := writer.Write(data[:size]); err != nil {
			return err
		}
		data = data[size:]
	}
	return nil
}

func report(path string, response *http.Response, err error) {
	if err != nil {
		fmt.Println(err, "failed", path)
		return
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		fmt.Println(err, "failed", path)
		return
	}
	fmt.Println(string(body), response.StatusCode, path)
}
