'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const commonjs = require('@rollup/plugin-commonjs')
const json = require('@rollup/plugin-json')
const { nodeResolve } = require('@rollup/plugin-node-resolve')
const ncc = require('@vercel/ncc')
const esbuild = require('esbuild')
const { rollup } = require('rollup')
const temporary = require('../../helpers/folder')
const share = require('../../helpers/share')

const ASSETS = path.join(__dirname, 'assets')
const PAGE = fs.readFileSync(path.join(__dirname, '../../../docs/guide/bundling.md'), 'utf8')
const [, EXTENSION] = /--outfile=dist\/server(\.\w+)/.exec(PAGE)

// source and target of one file each
const bundlers = {
  esbuild: (source, target) => esbuild.build({
    entryPoints: [source],
    outfile: target,
    bundle: true,
    platform: 'node',
    logLevel: 'error'
  }),

  rollup: async (source, target) => {
    const bundle = await rollup({
      input: source,
      external: /^node:/,
      plugins: [nodeResolve({ preferBuiltins: true }), commonjs({ ignoreDynamicRequires: true }), json()],
      onwarn: warning => { // as `rollup --failAfterWarnings` does
        if (warning.code !== 'EVAL' || !warning.id.includes('/http-errors/node_modules/depd/')) throw new Error(warning.message)
      }
    })
    await bundle.write({ file: target, format: 'cjs', inlineDynamicImports: true })
    await bundle.close()
  },

  ncc: async (source, target) => {
    const { code } = await ncc(source, { quiet: true, cache: false })
    fs.writeFileSync(target, code)
  }
}

describe('an app with the whole set, bundled', () => {
  const folder = temporary({ 'package.json': '{ "type": "module" }' }) // as the guides have it

  // far from node_modules: what is not in the bundle is not found
  async function run (bundle, visit) {
    const child = spawn(process.execPath, [bundle], { cwd: folder, env: { ...process.env, ASSETS }, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [port] = await Promise.race([
        once(child.stdout.setEncoding('utf8'), 'data'),
        once(child, 'exit').then(([code]) => { throw new Error(`the bundle ended with ${code}`) })
      ])
      await visit(`http://127.0.0.1:${port.trim()}`)
    } finally {
      child.kill()
    }
  }

  const named = share.one(Object.keys(bundlers))
  for (const [name, bundle] of Object.entries(bundlers)) {
    it(`should run, by ${name}`, async () => {
      const target = path.join(folder, `${name}${EXTENSION}`)
      await bundle(path.join(__dirname, 'app.js'), target)
      await run(target, async origin => {
        const text = async (path, options) => (await fetch(origin + path, options)).text()
        assert.equal(await text('/page/Ada'), 'Good day Ada\n')
        assert.equal(await text('/hi.txt'), 'hi\n')
        assert.equal(await text('/count'), '{"count":1}')
        const headers = { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' }
        assert.equal(await text('/rpc/add', { method: 'POST', headers, body: '[1,2]' }), '3')
      })
    })

    if (!named.includes(name)) continue
    it(`should run with names that an ES module imports, by ${name}`, async () => {
      const target = path.join(folder, `${name}-named${name === 'ncc' ? '.mjs' : EXTENSION}`)
      await bundle(path.join(__dirname, 'named.mjs'), target)
      await run(target, async origin => {
        for (const path of ['page', 'again']) {
          assert.equal(await (await fetch(`${origin}/${path}/Ada`)).text(), 'Good day Ada')
        }
      })
    })
  }
})
