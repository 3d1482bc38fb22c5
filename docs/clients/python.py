"""A key, a lock, an election and a watch with the package etcd3: python.py [HOST:PORT]"""

import sys

import etcd3

host, _, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:2379").rpartition(":")
client = etcd3.client(host=host, port=int(port), timeout=10)

# A watch: what is written from now on.
events, cancel = client.watch_prefix("python/")

# A key.
client.put("python/greeting", "hello")
value, metadata = client.get("python/greeting")
assert value == b"hello"
event = next(events)
assert (event.key, event.value) == (b"python/greeting", b"hello")
cancel()

# A lock. The token is the revision at which its key was created; hand it to what the lock protects.
with client.lock("python-door", ttl=10) as lock:
    assert lock.is_acquired()
    _, held = client.get(lock.key)
    print("inside, with the token", held.create_revision)
    other = client.lock("python-door", ttl=10)
    assert not other.acquire(timeout=0.2), "somebody is inside"
assert client.lock("python-door", ttl=10).acquire(timeout=5), "nobody is inside any more"


# An election: whoever creates the key leads for as long as its lease lasts.
def campaign(name, value, ttl=10):
    lease = client.lease(ttl)
    won, _ = client.transaction(
        compare=[client.transactions.create(name) == 0],
        success=[client.transactions.put(name, value, lease)],
        failure=[client.transactions.get(name)],
    )
    return won, lease


won, leads = campaign("python/scheduler", "host-a")
assert won
assert not campaign("python/scheduler", "host-b")[0], "host-a leads"
leads.refresh()
leads.revoke()
assert campaign("python/scheduler", "host-b")[0], "host-a has resigned"
print("python: key, lock, election, watch")
