import assert from 'node:assert/strict'
import process from 'node:process'
import contenders from './contenders.mjs'

// Run by index.js on each runtime: all contenders in one process, in turns. Prints µs of each round as JSON.
const [rounds, requests] = process.argv.slice(2).map(Number)
const json = JSON.stringify({ items: Array.from({ length: 8 }, (_, id) => ({ id, name: `item ${id}` })) })
const REQUESTS = {
  'GET, text': [() => new Request('http://localhost/'), 'Hello World'],
  'POST, JSON': [() => new Request('http://localhost/', {
    method: 'POST', body: json, headers: { 'Content-Type': 'application/json' }
  }), json]
}

const apps = Object.entries(contenders).map(([name, make]) => [name, make()])
const result = {}
for (const [what, [make, body]] of Object.entries(REQUESTS)) {
  const found = result[what] = Object.fromEntries(apps.map(([name]) => [name, []]))
  for (const [name, fetch] of apps) {
    const response = await fetch(make())
    assert.equal(response.status, 200, name)
    assert.equal(await response.text(), body, name)
  }
  for (let round = 0; round < rounds * 1.2; round++) { // the first are for the compiler
    for (const [name, fetch] of apps) {
      const before = process.cpuUsage()
      for (let i = 0; i < requests; i++) await (await fetch(make())).text()
      const { user, system } = process.cpuUsage(before)
      if (round >= rounds * 0.2) found[name].push((user + system) / requests)
    }
  }
}
console.log(JSON.stringify(result))
