import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

let esbuild

export async function initialize (data) {
  esbuild = (await import(pathToFileURL(data.esbuild))).default
}

// Types are removed and nothing is checked, as Node does it from 22.18 on.
export async function load (url, context, next) {
  if (!/\.m?ts$/.test(url)) return next(url, context)
  const file = fileURLToPath(url)
  const { code } = await esbuild.transform(await readFile(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: `node${process.versions.node}`,
    sourcefile: file,
    sourcemap: 'inline',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } }
  })
  return { format: 'module', source: code, shortCircuit: true }
}
