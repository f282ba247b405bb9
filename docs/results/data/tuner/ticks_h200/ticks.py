# Energies of bursts from windows of few ticks: kernels in random order, 1.1 s each.
import torch, time, threading, random, json, os, ctypes
nv=ctypes.CDLL("libnvidia-ml.so.1"); nv.nvmlInit_v2(); h=ctypes.c_void_p(); nv.nvmlDeviceGetHandleByIndex_v2(0,ctypes.byref(h))
def energy():
    e=ctypes.c_ulonglong(); nv.nvmlDeviceGetTotalEnergyConsumption(h,ctypes.byref(e)); return e.value
d='cuda'
a=torch.randn(4096,4096,device=d); b=torch.empty_like(a)
m=torch.randn(4096,4096,device=d); w=torch.randn(8192,8192,device=d,dtype=torch.bfloat16)
s=torch.randn(256,256,device=d)
kernels={'transpose':lambda:b.copy_(a.t()),'copy':lambda:b.copy_(a),'sgemm':lambda:torch.mm(m,m,out=b),'bf16':lambda:torch.mm(w,w),'small':lambda:torch.mm(s,s),'exp':lambda:torch.exp(a,out=b)}
graphs={}
for n,k in kernels.items():
    for _ in range(3): k()
    torch.cuda.synchronize()
    g=torch.cuda.CUDAGraph(); 
    with torch.cuda.graph(g):
        for _ in range(20): k()
    e0=torch.cuda.Event(enable_timing=True); e1=torch.cuda.Event(enable_timing=True)
    e0.record(); g.replay(); e1.record(); torch.cuda.synchronize(); graphs[n]=(g,e0.elapsed_time(e1)/1e3)
reads=[]; stop=False
def poll():
    while not stop:
        t0=time.perf_counter(); e=energy(); t1=time.perf_counter(); reads.append((t0,t1,e)); time.sleep(0.0015)
th=threading.Thread(target=poll); th.start()
rng=random.Random(3); order=list(graphs)*14; rng.shuffle(order); bursts=[]
for n in order:
    g,one=graphs[n]; t0=time.perf_counter(); runs=0; evs=[]
    while time.perf_counter()-t0<1.1:
        e=torch.cuda.Event(enable_timing=True); e.record(); evs.append(e)
        for _ in range(max(1,int(0.02/one))): g.replay(); runs+=20
        torch.cuda.synchronize()
    e=torch.cuda.Event(enable_timing=True); e.record(); torch.cuda.synchronize(); evs.append(e)
    bursts.append((n,t0,time.perf_counter(),runs,[x.elapsed_time(y)/1e3 for x,y in zip(evs,evs[1:])]))
stop=True; th.join()
json.dump({'reads':[r for i,r in enumerate(reads) if i==0 or r[2]!=reads[i-1][2] or (i+1<len(reads) and reads[i+1][2]!=r[2])],'bursts':bursts},open(os.environ['OUT']+'/ticks.json','w'))
print(len(reads),len(bursts))
