'use strict'

const assert = require('node:assert/strict')
const { execFile, execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { before, describe, it } = require('node:test')
const pack = require('../../tools/pack')
const { install } = require('../helpers/area')
const temporary = require('../helpers/folder')
const isForeign = require('./is-foreign')

// kone's declarations as an app's compiler reads them: from the packed package, `skipLibCheck` off.

const ROOT = path.join(__dirname, '../..')

const OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  esModuleInterop: true,
  noEmit: true,
  target: 'es2022',
  lib: ['es2022'],
  types: ['node'],
  skipLibCheck: false
}

const SOURCES = ['middleware', 'router', 'client', 'docs']
const ONE = SOURCES.map(name => `${name}.ts`)
const IMPORTS = SOURCES.flatMap(name => [`${name}.cts`, `${name}.mts`])
const BOTH = [...IMPORTS, 'require.cts']

const SETTINGS = {
  // TypeScript 7 has no node10
  'commonjs and node10': () => ({ options: { module: 'commonjs', moduleResolution: 'node10' }, files: ONE }),
  node16: () => ({ options: { module: 'node16' }, files: BOTH }),
  nodenext: () => ({ options: { module: 'nodenext' }, files: BOTH }),
  // what the set declares for ctx.state is not in this one
  'nodenext without the set': () => ({ options: { module: 'nodenext' }, files: ['api.cts', 'api.mts'] }),
  'esnext and bundler': () => ({ options: { module: 'esnext', moduleResolution: 'bundler' }, files: IMPORTS }),
  // the module of a bundler that takes require(), from TypeScript 5.4 on
  'preserve and bundler': version => version === '5.0' ? undefined : { options: { module: 'preserve' }, files: ['require.cts'] }
}

/** All of them by the oldest TypeScript; by the others, the ways to find a declaration. TypeScript 6 has types.test.js. */
const LATER = { 5.9: ['commonjs and node10'], 7: ['nodenext', 'esnext and bundler'] }

const TEMPLATES = ['bare', 'site', 'api']

describe('the declarations of the package', { concurrency: 2 }, () => {
  const project = temporary()
  let area

  before(() => {
    area = install('consumers/compilers')
    const modules = path.join(project, 'node_modules')
    fs.mkdirSync(modules)
    execFileSync('tar', ['xzf', pack({ to: project }), '-C', modules])
    fs.renameSync(path.join(modules, 'package'), path.join(modules, 'kone'))
    for (const name of ['helmet', 'ioredis', 'prom-client', 'zod']) {
      fs.symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name), 'junction')
    }
    fs.symlinkSync(path.join(area.folder, 'node_modules/@types'), path.join(modules, '@types'), 'junction')

    for (const file of [...ONE, ...BOTH, 'api.cts', 'api.mts']) {
      const source = file === 'require.cts' ? file : `${path.parse(file).name}.ts`
      fs.copyFileSync(path.join(__dirname, source), path.join(project, file))
    }
    for (const kind of TEMPLATES) {
      execFileSync(process.execPath, [path.join(ROOT, 'create/index.js'), kind, '--ts', ...(kind === 'site' ? [] : [`--${kind}`])], {
        cwd: project,
        stdio: 'ignore'
      })
    }
  })

  for (const version of ['5.0', '5.9', '7']) {
    describe(`by TypeScript ${version}`, () => {
      const settings = Object.entries(SETTINGS)
        .filter(([title]) => LATER[version]?.includes(title) ?? true)
        .map(([title, settingOf]) => [title, settingOf(version)])
        .filter(([, setting]) => setting)
      let found

      before(async () => {
        const configs = settings.map(([title, { options, files }]) => {
          const config = `tsconfig.${version}.${title.replaceAll(' ', '-')}.json`
          fs.writeFileSync(path.join(project, config), JSON.stringify({ compilerOptions: { ...OPTIONS, ...options }, files }))
          return config
        })
        found = await (version === '7' ? native(configs) : reports(version, configs))
      })

      settings.forEach(([title], i) => {
        it(`should compile under ${title}`, () => assert.equal(found[i], ''))
      })

      if (version !== '7') return
      // create.long.test.js compiles them by the version that they install
      it('should compile the projects of npm create kone', async () => {
        const found = await native(TEMPLATES, ['--noEmit', '--skipLibCheck', 'false', '--exactOptionalPropertyTypes'])
        assert.deepEqual(found, TEMPLATES.map(() => ''))
      })
    })
  }

  /** @return {Promise<String[]>} what a compiler that is a library reports about each program, all in one process */
  async function reports (version, configs) {
    const compiler = path.join(area.folder, `node_modules/typescript-${version}`)
    const { stdout, stderr } = await run([path.join(__dirname, 'compile.js'), compiler, ...configs])
    return stderr === '' ? JSON.parse(stdout) : configs.map(() => stderr)
  }

  /** @return {Promise<String[]>} the same of TypeScript 7, a program of its own */
  async function native (configs, flags = []) {
    const found = []
    for (const config of configs) {
      const tsc = path.join(area.folder, 'node_modules/typescript-7/bin/tsc')
      const { stdout, stderr } = await run([tsc, '-p', config, ...flags, '--pretty', 'false'])
      const lines = stdout.split('\n').filter(line => /\S/.test(line) && !isForeign(line))
      found.push([...lines, stderr].join('\n').trim())
    }
    return found
  }

  function run (args) {
    return new Promise(resolve => {
      execFile(process.execPath, args, { cwd: project }, (err, stdout, stderr) => {
        resolve({ stdout, stderr: stderr + (err !== null && typeof err.code !== 'number' ? err.message : '') })
      })
    })
  }
})
