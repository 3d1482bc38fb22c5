// A key, a lock, an election and a watch with etcd's own client for Go, as Debian's golang-etcd-server-dev has it:
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run client.go [HOST:PORT]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func expect(what string, is bool) {
	if !is {
		must(errors.New(what))
	}
}

func session(client *clientv3.Client) *concurrency.Session {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(10))
	must(err)
	return session
}

func main() {
	at := "127.0.0.1:2379"
	if len(os.Args) > 1 {
		at = os.Args[1]
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{at}, DialTimeout: 10 * time.Second})
	must(err)
	defer client.Close()
	all, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	// A watch, and the key that it sees.
	seen := client.Watch(all, "go/greeting")
	_, err = client.Put(all, "go/greeting", "hello")
	must(err)
	found, err := client.Get(all, "go/greeting")
	must(err)
	expect("the key is there", len(found.Kvs) == 1 && string(found.Kvs[0].Value) == "hello")
	event := <-seen
	expect("the watch sees it", len(event.Events) == 1 && string(event.Events[0].Kv.Value) == "hello")

	// A lock: the other one waits, and gets it when it is free.
	mine, others := session(client), session(client)
	first, second := concurrency.NewMutex(mine, "go/door"), concurrency.NewMutex(others, "go/door")
	must(first.Lock(all))
	short, stop := context.WithTimeout(all, 300*time.Millisecond)
	expect("nobody else is inside", errors.Is(second.Lock(short), context.DeadlineExceeded))
	stop()
	must(first.Unlock(all))
	must(second.Lock(all))
	must(second.Unlock(all))

	// An election.
	election := concurrency.NewElection(mine, "go/scheduler")
	must(election.Campaign(all, "host-a"))
	leader, err := election.Leader(all)
	must(err)
	expect("it leads", string(leader.Kvs[0].Value) == "host-a")
	must(election.Proclaim(all, "host-a, port 80"))
	must(election.Resign(all))
	_, err = election.Leader(all)
	expect("nobody leads", err == concurrency.ErrElectionNoLeader)

	must(mine.Close())
	must(others.Close())
	fmt.Println("go: key, lock, election, watch")
}
