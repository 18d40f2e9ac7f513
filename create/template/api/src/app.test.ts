import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { createApp } from './app.ts'
import { redis } from './redis.ts'

after(() => redis?.disconnect())

interface Problem {
  status: number
  issues: Array<{ path: unknown }>
}

interface OpenApi {
  paths: object
}

/** Functions that send web requests to a new app. */
function start () {
  const app = createApp({ quiet: true })
  const get = (path: string) => app.fetch(new Request(`http://localhost${path}`))
  const post = (path: string, body: unknown) => app.fetch(new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body)
  }))
  return { get, post }
}

const json = async (response: Response) => await response.json() as unknown[]

test('stores an item', async () => {
  const { get, post } = start()
  const made = await post('/items', { name: 'pen', price: 2 })
  assert.equal(made.status, 201)
  assert.equal(made.headers.get('location'), '/items/1')
  assert.deepEqual(await made.json(), { id: 1, name: 'pen', price: 2 })
  assert.deepEqual(await (await get('/items/1')).json(), { id: 1, name: 'pen', price: 2 })
})

test('lists as many as requested', async () => {
  const { get, post } = start()
  for (const name of ['a', 'b', 'c']) await post('/items', { name, price: 1 })
  assert.equal((await json(await get('/items'))).length, 3)
  assert.equal((await json(await get('/items?limit=2'))).length, 2)
})

test('refuses what does not fit, and says where', async () => {
  const { get, post } = start()
  const refused = await post('/items', { name: 'pen', price: 'two' })
  assert.equal(refused.status, 400)
  assert.equal(refused.headers.get('content-type'), 'application/problem+json')
  const { issues } = await refused.json() as Problem
  assert.deepEqual(issues.map(issue => issue.path), [['price']])
  assert.equal((await get('/items?limit=0')).status, 400)
  assert.equal((await get('/items/one')).status, 400)
})

test('responds with problems', async () => {
  const { get, post } = start()
  const isProblem = async (response: Response, status: number) => {
    assert.equal(response.status, status)
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.equal((await response.json() as Problem).status, status)
  }
  await isProblem(await get('/items/7'), 404)
  await isProblem(await get('/nowhere'), 404)
  await isProblem(await post('/items/7', {}), 405)
})

test('is alive, ready, documented and measured', async () => {
  const { get } = start()
  await get('/items/7')
  assert.equal((await get('/healthz')).status, 200)
  assert.equal((await get('/readyz')).status, 200)
  const { paths } = await (await get('/openapi.json')).json() as OpenApi
  assert.deepEqual(Object.keys(paths), ['/items', '/items/{id}'])
  assert.match(await (await get('/metrics')).text(), /http_request_duration_seconds_count\{method="GET",route="\/items\/:id"/)
})
