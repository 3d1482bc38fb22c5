// A key, a lock, an election and a watch with the package etcd3: node node.mjs [HOST:PORT]

import assert from 'node:assert';
import { once } from 'node:events';
import { Etcd3 } from 'etcd3';

const client = new Etcd3({ hosts: `http://${process.argv[2] ?? '127.0.0.1:2379'}` });

// A watch: what is written from when it is connected.
const watcher = await client.watch().prefix('node/').create();
const seen = once(watcher, 'put');

// A key.
await client.put('node/greeting').value('hello');
assert.equal(await client.get('node/greeting').string(), 'hello');
const [event] = await seen;
assert.equal(event.key.toString(), 'node/greeting');
await watcher.cancel();

// A lock. `lock()` does not wait, and fails if somebody is inside.
const lock = client.lock('node-door').ttl(10);
await lock.acquire();
await assert.rejects(client.lock('node-door').acquire());
await lock.release();
await client.lock('node-door').do(async () => console.log('inside'));

// An election.
const election = client.election('node-scheduler', 10);
const observer = await election.observe();
const campaign = election.campaign('host-a');
await once(campaign, 'elected');
assert.equal(await election.leader(), 'host-a');
await campaign.proclaim('host-a, port 80');
while (observer.leader() !== 'host-a, port 80') await once(observer, 'change');
await campaign.resign();
assert.equal(await election.leader(), undefined);
await observer.cancel();
client.close();
console.log('node: key, lock, election, watch');
