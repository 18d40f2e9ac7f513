'use strict'

const path = require('node:path')
const { fileURLToPath } = require('node:url')

const KONE = ['lib', 'middleware', 'command'].map(folder => path.join(__dirname, '../..', folder, path.sep))

let session = null

/**
 * What a process reports of itself: `usage` is its CPU time in µs, `start` and `stop` are a CPU profile.
 *
 * @param {'usage' | 'start' | 'stop'} what
 * @return {*} of `stop`: shares of the CPU time by package
 */
exports.ask = async function (what) {
  if (what === 'usage') {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  const { Session } = require('node:inspector/promises')
  if (what === 'start') {
    session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 200 })
    return session.post('Profiler.start').then(() => true)
  }
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  return byPackage(profile)
}

/**
 * @return {{ [name: string]: number }} shares of what ran, by package; native functions count for node, and a function
 *   that a program has compiled (of a template, a serializer) for its caller
 */
const byPackage = exports.byPackage = function ({ nodes, samples, timeDeltas }) {
  const owners = new Map()
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id])))
  for (const { id, callFrame: { functionName, scriptId, url } } of nodes) { // callers come first
    const isCompiled = url === '' && scriptId !== '0'
    owners.set(id, functionName === '(idle)' ? null : isCompiled ? owners.get(callers.get(id)) : packageOf(url))
  }
  const times = new Map()
  for (const [i, sample] of samples.entries()) {
    const name = owners.get(sample)
    if (name !== null) times.set(name, (times.get(name) ?? 0) + timeDeltas[i])
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  return Object.fromEntries([...times].map(([name, time]) => [name, time / total]))
}

function packageOf (url) {
  if (!url.startsWith('file:') && !url.startsWith('/')) return 'node'
  const file = url.startsWith('file:') ? fileURLToPath(url) : url
  if (KONE.some(folder => file.startsWith(folder))) return 'kone'
  const [, name] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file) ?? []
  return name?.replaceAll('\\', '/') ?? 'the app'
}
