import { test } from 'node:test'
import assert from 'node:assert/strict'
import { createApp } from './app.ts'

test('greets the world', async () => {
  const answer = await createApp().inject({ url: '/' })
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json(), { hello: 'world' })
})

test('greets by name', async () => {
  const answer = await createApp().inject({ url: '/?name=kone' })
  assert.deepEqual(answer.json(), { hello: 'kone' })
})

test('knows no other page', async () => {
  const answer = await createApp().inject({ url: '/elsewhere' })
  assert.equal(answer.status, 404)
})
