'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')

/**
 * Start a program of the checkout and wait until it prints where it listens.
 *
 *    const child = await start(['examples/app'], { PORT: '0' })
 *    await fetch(child.url)
 *    await child.stop()
 */
exports.start = async function (args, env, cwd, node = process.execPath) {
  const child = spawn(node, args, {
    cwd,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let printed = ''
  const url = await new Promise((resolve, reject) => {
    const take = chunk => {
      printed += chunk
      const found = /https?:\/\/localhost:\d+/.exec(printed)
      if (found) resolve(found[0])
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`${args.join(' ')} ended with ${code}:\n${printed}`)))
  })
  return {
    url,
    process: child,
    output: () => printed,
    async stop (signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        await once(child, 'exit')
      }
      return child.exitCode
    }
  }
}
