// `kone dev` and `kone routes` of a TypeScript app on a Node that does not strip types: the project's
// own esbuild does. Loaded by --import.
import { register } from 'node:module'

register('./esbuild-hooks.mjs', import.meta.url, { data: { esbuild: process.env.KONE_ESBUILD } })
