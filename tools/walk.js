'use strict'

const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const { Session } = require('node:inspector')
const net = require('node:net')
const path = require('node:path')
const { setImmediate } = require('node:timers/promises')
const { fileURLToPath } = require('node:url')

const ROOT = path.join(__dirname, '..')

/** Requests before the first that is counted: caches are filled, and code is compiled. */
const WARM = 200

/** The shortest counts, because during the others a timer of the server may have fired. */
const WALKS = 5

/**
 * The functions of a framework that one GET enters: keep-alive over a real socket, after many of the same, through five
 * middleware whose own functions do not count.
 *
 *    walk('kone') // [{ file: 'lib/application.js', calls: 7, functions: ['dispatch', 'finish', …] }, …]
 *
 * @param {string} framework 'kone', or a package with Koa's API
 * @return {Array<{ file: string, calls: number, functions: string[] }>} in the order of their names
 */
function walk (framework) {
  const env = { PATH: process.env.PATH, NODE_ENV: 'production' } // NODE_V8_COVERAGE would reset the counters
  const printed = execFileSync(process.execPath, [__filename, '--walk', framework], { cwd: ROOT, encoding: 'utf8', env })
  return JSON.parse(printed)
}

async function measure (framework) {
  const App = require(framework === 'kone' ? '..' : framework)
  const app = new App()
  for (let i = 0; i < 4; i++) app.use(async (ctx, next) => { await next() })
  app.use(async ctx => { ctx.body = 'Hello World' })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const socket = net.connect(server.address().port, '127.0.0.1')
  await once(socket, 'connect')
  const get = async () => {
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n')
    const [response] = await once(socket, 'data')
    if (!String(response).endsWith('\r\n\r\nHello World')) throw new Error(`not the whole response: ${response}`)
    await setImmediate() // what the server does after it
    await setImmediate()
  }
  for (let i = 0; i < WARM; i++) await get()

  const session = new Session()
  session.connect()
  const post = (method, params) => new Promise((resolve, reject) => {
    session.post(method, params, (err, result) => err ? reject(err) : resolve(result))
  })
  await post('Profiler.enable')
  await post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  let best = null
  for (let i = 0; i < WALKS; i++) {
    await get()
    const { result } = await post('Profiler.takePreciseCoverage')
    const files = entered(result)
    if (i > 0 && (best === null || count(files) < count(best))) best = files // the first compiles
  }
  socket.destroy()
  server.close()
  return best
}

function entered (scripts) {
  const files = []
  for (const { url, functions } of scripts) {
    if (!url.startsWith('file:')) continue
    const file = path.relative(ROOT, fileURLToPath(url)).split(path.sep).join('/')
    if (!/^(?:lib|node_modules)\//.test(file)) continue
    const called = functions.filter(({ ranges: [{ count }] }) => count > 0)
    if (called.length === 0) continue
    const calls = called.reduce((sum, { ranges: [{ count }] }) => sum + count, 0)
    files.push({ file, calls, functions: called.map(({ functionName }) => functionName || '(anonymous)').sort() })
  }
  return files.sort((a, b) => a.file < b.file ? -1 : 1)
}

/** @return {number} of functions */
function count (files) {
  return files.reduce((sum, { functions }) => sum + functions.length, 0)
}

function print (framework) {
  const files = walk(framework)
  console.log(`${framework}: ${count(files)} functions in ${files.length} files, Node ${process.versions.node}\n`)
  for (const { file, functions } of files) console.log(`  ${file} (${functions.length}): ${functions.join(', ')}`)
  console.log()
}

module.exports = { walk, count }

if (require.main === module) {
  const [first, framework] = process.argv.slice(2)
  if (first === '--walk') measure(framework).then(files => process.stdout.write(JSON.stringify(files)))
  else for (const name of first === undefined ? ['kone', 'koa'] : [first]) print(name)
}
