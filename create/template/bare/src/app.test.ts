import { test } from 'node:test'
import assert from 'node:assert/strict'
import { createApp } from './app.ts'

test('greets the world', async () => {
  const res = await createApp().inject({ url: '/' })
  assert.equal(res.status, 200)
  assert.deepEqual(res.json(), { hello: 'world' })
})

test('greets by name', async () => {
  const res = await createApp().inject({ url: '/?name=kone' })
  assert.deepEqual(res.json(), { hello: 'kone' })
})

test('knows no other page', async () => {
  const res = await createApp().inject({ url: '/elsewhere' })
  assert.equal(res.status, 404)
})
