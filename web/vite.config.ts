import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where `npm run dev:web` finds the API: a server of its own, or the first port of `hawser up`. */
const SERVER = process.env['HAWSER_SERVER'] ?? 'http://127.0.0.1:4600'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // Inline data would need a wider policy, and browsers of that target preload modules themselves.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  server: {
    host: '127.0.0.1',
    // The server accepts only requests from its own page: the proxy sends them as such.
    proxy: Object.fromEntries(
      ['/api', '/page', '/healthz'].map((path) => [
        path,
        { target: SERVER, changeOrigin: true, headers: { origin: SERVER } },
      ]),
    ),
  },
})
