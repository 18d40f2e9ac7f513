// net/http that says hello: HOST and PORT are in the environment.
package main

import (
	"log"
	"net/http"
	"os"
)

var hello = []byte("Hello World")

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write(hello)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil))
}
